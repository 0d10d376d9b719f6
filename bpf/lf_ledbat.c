// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus); crates/transport/src/cc/ledbat_plus_plus.rs.
 *
 * What the kernel's interface decides: delays are round-trip times in whole microseconds. The least of each
 * minute is kept for ten minutes, as in the Rust form.
 */
#include "lf.h"

#define TARGET_US 60000
#define GREATEST_DIVISOR 16
#define SLOW_START_ENDS_US (TARGET_US * 3 / 4)
#define LEAST_CWND SEGMENTS(2)
#define ROUND_TRIPS 2 /* of a slowdown, and before the first one */
#define PERIOD 9      /* times the last slowdown */
#define MINUTES 10
#define SAMPLES 4
#define MINUTE_US 60000000

enum phase { BEGIN, STEADY, DRAIN, RETURN };

struct state {
	u64 since_us;         /* when the slowdown began */
	u64 until_us;         /* end of the phase */
	u32 minute;           /* the last one with a sample, and one more; 0: none */
	u32 base_us[MINUTES]; /* the least of each minute, the last one first; 0: none */
	u32 last_us[SAMPLES]; /* the last one first; 0: none */
	u8 phase;
};

static void on_sample(struct state *s, const struct ack *ack)
{
	u32 minute = ack->now_us / MINUTE_US + 1, passed = s->minute ? minute - s->minute : MINUTES;

	if (!ack->rtt_us)
		return;
	/* the indexes are constants, because the kernel permits no others in a connection's memory */
	for (u32 i = 0; i < least(passed, MINUTES); i++) {
		UNROLLED
		for (int j = MINUTES - 1; j > 0; j--)
			s->base_us[j] = s->base_us[j - 1];
		s->base_us[0] = 0;
	}
	s->minute = minute;
	if (!s->base_us[0] || ack->rtt_us < s->base_us[0])
		s->base_us[0] = ack->rtt_us;
	UNROLLED
	for (int j = SAMPLES - 1; j > 0; j--)
		s->last_us[j] = s->last_us[j - 1];
	s->last_us[0] = ack->rtt_us;
}

/* Includes a sample in a minimum; 0 is none. */
static inline u32 lesser(u32 a, u32 b) { return b && (!a || b < a) ? b : a; }

static u32 base_of(const struct state *s)
{
	u32 base_us = 0;

	UNROLLED
	for (int i = 0; i < MINUTES; i++)
		base_us = lesser(base_us, s->base_us[i]);
	return base_us;
}

static u32 queueing_of(const struct state *s)
{
	u32 last_us = 0;

	UNROLLED
	for (int i = 0; i < SAMPLES; i++)
		last_us = lesser(last_us, s->last_us[i]);
	return beyond(last_us, base_of(s));
}

/* Returns 1 / GAIN. */
static u32 divisor_of(u32 base_us)
{
	u32 divisor = base_us ? (2 * TARGET_US + base_us - 1) / base_us : GREATEST_DIVISOR;

	return least(divisor, GREATEST_DIVISOR);
}

static void steady_until(struct state *s, u64 until_us)
{
	s->phase = STEADY;
	s->until_us = until_us;
}

/* Waits for the slowdown after the one that began at since_us. */
static void end_slowdown(struct state *s, u64 now_us)
{
	steady_until(s, now_us + PERIOD * (now_us - s->since_us));
}

/* Follows the clock. */
static void follow(struct state *s, const struct ack *ack, u32 queueing_us, struct window *w)
{
	u64 round_trips_us = ROUND_TRIPS * (u64)ack->srtt_us;

	if (s->phase == BEGIN && (queueing_us > SLOW_START_ENDS_US || !in_slow_start(w))) {
		w->ssthresh = least(w->ssthresh, greatest(w->cwnd, LEAST_CWND));
		steady_until(s, ack->now_us + round_trips_us);
	} else if (s->phase == STEADY && ack->now_us >= s->until_us) {
		w->ssthresh = greatest(w->cwnd, LEAST_CWND);
		w->cwnd = least(w->cwnd, LEAST_CWND);
		s->phase = DRAIN;
		s->since_us = ack->now_us;
		s->until_us = ack->now_us + round_trips_us;
	} else if (s->phase == DRAIN && ack->now_us >= s->until_us) {
		s->phase = RETURN;
	} else if (s->phase == RETURN && !in_slow_start(w)) {
		end_slowdown(s, ack->now_us);
	}
}

/* Moves the window between slowdowns. */
static void move(struct state *s, const struct ack *ack, u32 queueing_us, u32 divisor, struct window *w)
{
	u64 grown = standard_step(w, ack->acked) / divisor, shrunk;

	if (queueing_us <= TARGET_US) {
		w->cwnd = greatest(w->cwnd + grown, LEAST_CWND);
		return;
	}
	shrunk = ack->acked * (((u64)(queueing_us - TARGET_US) << 32) / TARGET_US);
	if (grown >= shrunk) {
		w->cwnd += grown - shrunk;
		return;
	}
	/* a round trip takes at most half of the window */
	w->cwnd = greatest(beyond(w->cwnd, least(shrunk - grown, ack->acked * SEGMENTS(0.5))), LEAST_CWND);
	lower_ssthresh(w);
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	u32 queueing_us = queueing_of(s), base_us = base_of(s);
	u32 divisor = divisor_of(base_us ? base_us : ack->base_rtt_us);

	follow(s, ack, queueing_us, w);
	if (s->phase == DRAIN)
		return;
	if (s->phase != STEADY || (in_slow_start(w) && queueing_us <= TARGET_US))
		w->cwnd = least(w->cwnd + (WHOLE(ack->acked) + divisor - 1) / divisor, w->ssthresh);
	else
		move(s, ack, queueing_us, divisor, w);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
	if (s->phase == BEGIN)
		steady_until(s, ack->now_us + ROUND_TRIPS * (u64)ack->srtt_us);
	else if (s->phase != STEADY)
		end_slowdown(s, ack->now_us);
}

ALGORITHM("lf_ledbat", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion)
