// SPDX-License-Identifier: MIT OR Apache-2.0
/* BIC TCP as Li, Leith and Shorten (2007) write it, their slip corrected; crates/transport/src/cc/bic.rs. */
#include "lf.h"

#define S_MAX 32              /* segments per round trip */
#define B 4
#define S_MIN SHARE(0.2)      /* B / sigma */
#define BETA SHARE(0.8)
#define LOW_WINDOW SEGMENTS(14)
#define HURRY SEGMENTS(0.05)  /* per segment, while the path looks under-used */
#define LOW_UTIL_PERCENT 15   /* percent of the range of delays */
#define UTIL_CHECK_US 2000000
#define SETTLING_US 1000000   /* for this long after a recovery, delays are not used */
#define LEAST_RANGE 64        /* a range below this fraction of the least delay decides nothing */
#define RANGE_MEMORY SHARE(0.9)

struct state {
	u64 w1, w2, before_w1, before_w2; /* target, and window at the last loss; both as before it */
	u64 trusted_from_us;              /* 0: the next acknowledgement sets it */
	u64 low_since_us;                 /* 0: utilization does not look low */
	u32 least_us, greatest_us;
	u8 low, congested;
};

/* f(d, cwnd): growth towards w1, segments per round trip. */
static u64 growth(u64 cwnd, u64 w1)
{
	if (cwnd < w1) {
		u64 d = (w1 - cwnd) / B;
		return d <= WHOLE(1) ? S_MIN : least(d, WHOLE(S_MAX)) >> 16;
	}
	u64 over = cwnd - w1;
	if (over < WHOLE(B))
		return S_MIN;
	return over < WHOLE(S_MAX * (B - 1)) ? (over / (B - 1)) >> 16 : SHARE(S_MAX);
}

static bool looks_low(struct state *s, const struct ack *ack)
{
	if (s->congested) {
		s->congested = false;
		s->trusted_from_us = ack->now_us + SETTLING_US;
	}
	if (!ack->rtt_us || ack->now_us < s->trusted_from_us)
		return false;
	if (!s->least_us || ack->rtt_us < s->least_us) {
		s->least_us = ack->rtt_us;
		s->greatest_us = ack->rtt_us;
		return false;
	}
	s->greatest_us = greatest(s->greatest_us, ack->rtt_us);
	u64 range = s->greatest_us - s->least_us;
	return range > s->least_us / LEAST_RANGE &&
	       100 * beyond(ack->srtt_us, s->least_us) < LOW_UTIL_PERCENT * range;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (looks_low(s, ack)) {
		if (!s->low_since_us)
			s->low_since_us = ack->now_us;
		s->low = ack->now_us - s->low_since_us > UTIL_CHECK_US;
	} else {
		s->low_since_us = 0;
		s->low = false;
	}
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	if (w->cwnd <= LOW_WINDOW) {
		w->cwnd += standard_step(w, ack->acked);
		return;
	}
	bool hurried = !s->w2 || (s->low && w->cwnd > s->w2);
	u64 more = step(w, growth(w->cwnd, s->w1), ack->acked);
	w->cwnd += greatest(more, hurried ? ack->acked * HURRY : 0);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	s->before_w1 = s->w1;
	s->before_w2 = s->w2;
	s->congested = true;
	if (s->greatest_us > s->least_us)
		s->greatest_us = s->least_us + ((s->greatest_us - s->least_us) * RANGE_MEMORY >> 16);
	s->w1 = w->cwnd < s->w1 ? part(w->cwnd, (SHARE(1) + BETA) / 2) : w->cwnd; /* fast convergence */
	s->w2 = w->cwnd;
	w->ssthresh = w->cwnd <= LOW_WINDOW ? w->cwnd / 2 : part(w->cwnd, BETA);
}

static void on_undo(struct state *s, const struct window *w)
{
	s->w1 = s->before_w1;
	s->w2 = s->before_w2;
}

ALGORITHM("lf_bic", .on_ack = on_ack, .on_congestion = on_congestion, .on_undo = on_undo)
