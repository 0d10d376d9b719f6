// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP-Illinois (Liu, Basar, Srikant 2008); crates/transport/src/cc/illinois.rs. */
#include "lf.h"

#define ALPHA_MAX SHARE(10)   /* segments per round trip; the least is 0.3 */
#define BETA_MIN SHARE(0.125)
#define BETA_MAX SHARE(0.5)
#define WIN_THRESH SEGMENTS(15)
#define THETA 5               /* round trips with a small delay before ALPHA_MAX */
#define TIME_PLACES 4         /* binary places of a mean delay in us */

struct state {
	u64 sum_us; /* of the round-trip times measured in this round trip */
	u32 count;
	u32 max_rtt_us;
	u32 alpha, beta; /* 0: not set yet */
	struct round round;
	u8 low_rounds;
	bool above; /* da was above d1, and has been below it for low_rounds round trips since */
};

/* Returns alpha for a mean delay da above d1 = dm / 100: k1 / (k2 + da), 10 at d1 and 0.3 at dm. */
static u64 curve_alpha(u64 da, u64 dm)
{
	u64 over = 100 * da - dm, range = 99 * dm; /* in hundredths */

	return range * SHARE(30) / (3 * range + 97 * over);
}

static u64 alpha(struct state *s, u64 da, u64 dm)
{
	if (100 * da > dm) {
		s->above = true;
		s->low_rounds = 0;
		return curve_alpha(da, dm);
	}
	if (s->above && ++s->low_rounds < THETA)
		return s->alpha;
	s->low_rounds = 0;
	s->above = false;
	return ALPHA_MAX;
}

/* BETA_MIN up to dm / 10, linear in between, BETA_MAX from 8 dm / 10. */
static u64 curve_beta(u64 da, u64 dm)
{
	if (10 * da <= dm)
		return BETA_MIN;
	if (10 * da >= 8 * dm)
		return BETA_MAX;
	return BETA_MIN + (BETA_MAX - BETA_MIN) * (10 * da - dm) / (7 * dm);
}

static void standard(struct state *s)
{
	s->alpha = SHARE(1);
	s->beta = SHARE(0.5);
}

static void update(struct state *s, const struct ack *ack, u64 cwnd)
{
	if (cwnd < WIN_THRESH) {
		standard(s);
	} else if (s->count) {
		u64 base = (u64)ack->base_rtt_us << TIME_PLACES;
		u64 da = beyond((s->sum_us << TIME_PLACES) / s->count, base);
		u64 dm = beyond((u64)s->max_rtt_us << TIME_PLACES, base);
		s->alpha = alpha(s, da, dm);
		s->beta = curve_beta(da, dm);
	}
	s->sum_us = 0;
	s->count = 0;
}

static void on_sample(struct state *s, const struct ack *ack)
{
	if (!ack->rtt_us)
		return;
	s->max_rtt_us = greatest(s->max_rtt_us, ack->rtt_us);
	s->sum_us += ack->rtt_us;
	s->count++;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (!s->alpha)
		standard(s);
	if (passed(&s->round, ack).duration_us)
		update(s, ack, w->cwnd);
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += step(w, s->alpha, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd - part(w->cwnd, s->beta ? s->beta : SHARE(0.5));
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
	standard(s);
	s->above = false;
	s->low_rounds = 0;
	restart(&s->round);
	s->sum_us = 0;
	s->count = 0;
}

ALGORITHM("lf_illinois", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_timeout = on_timeout)
