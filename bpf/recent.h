// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The least or the greatest of recent round-trip times. Those are kept that no later one replaces, and
 * that are a part of the window apart, so the window is shorter than asked for by up to a 32nd.
 */
#ifndef LF_RECENT_H
#define LF_RECENT_H

#define RECENT 64 /* a window that has just doubled has room */
#define PARTS 32

struct recent {
	u32 at[RECENT]; /* us; wraps */
	u32 rtt_us[RECENT];
	u32 first, count; /* a ring */
};

static inline bool replaces(u32 rtt_us, u32 old_us, bool greatest_of)
{
	return greatest_of ? rtt_us >= old_us : rtt_us <= old_us;
}

/* Takes a round-trip time, and returns the least or greatest of the window, or the last one if that is older.
 * Takes none if rtt_us is 0; returns 0 if there is none. */
static inline u32 extreme(struct recent *r, u32 now, u32 rtt_us, u32 window_us, bool greatest_of)
{
	u32 last;

	if (rtt_us) {
		for (int i = 0; i < RECENT && r->count; i++) {
			last = (r->first + r->count - 1) % RECENT;
			if (!replaces(rtt_us, r->rtt_us[last], greatest_of))
				break;
			r->count--;
		}
		last = (r->first + r->count - 1) % RECENT;
		if (!r->count || (r->count < RECENT && now - r->at[last] >= window_us / PARTS)) {
			last = (r->first + r->count) % RECENT;
			r->at[last] = now;
			r->rtt_us[last] = rtt_us;
			r->count++;
		}
	}
	for (int i = 0; i < RECENT && r->count > 1; i++) {
		if (now - r->at[r->first % RECENT] <= window_us)
			break;
		r->first = (r->first + 1) % RECENT;
		r->count--;
	}
	return r->count ? r->rtt_us[r->first % RECENT] : 0;
}

#endif
