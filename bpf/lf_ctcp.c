// SPDX-License-Identifier: MIT OR Apache-2.0
/* Compound TCP (Tan, Song, Zhang, Sridharan 2006); crates/transport/src/cc/ctcp.rs. */
#include "logarithm.h"

#define LOG_ALPHA LOG(3)        /* -log2 of alpha, which is 1/8 */
#define GAMMA SEGMENTS(30)      /* own queue at which dwnd begins to shrink, by all of it, as zeta is 1 */
#define LOW_WINDOW SEGMENTS(41)
#define LEAST_SAMPLES 3

struct state {
	u64 dwnd, before;   /* the delay window; and the same before the last congestion event */
	u64 growth;         /* of dwnd in this round trip, 16 binary places */
	u64 win;            /* window at the beginning of the round trip; 0: none has begun */
	u32 least_rtt_us, samples;
	u32 base_rtt_us;
	struct round round;
};

/* Returns dwnd's growth in a round trip without a queue: (alpha win^k - 1)+ for k = 3/4. */
static u64 increase(u64 win)
{
	u64 power = log2_of(greatest(win >> 24, 1)) * 3 / 4; /* of 2^8 times the window */

	return beyond(exp2_of(beyond(power, LOG(6) + LOG_ALPHA)), SHARE(1));
}

/* A round trip has passed. */
static void adjust(struct state *s, struct window *w)
{
	s->growth = 0;
	if (w->cwnd < LOW_WINDOW) {
		s->dwnd = 0;
	} else if (s->samples >= LEAST_SAMPLES) {
		u64 diff = queued(s->win, s->base_rtt_us, s->least_rtt_us);
		if (diff < GAMMA) {
			s->growth = increase(s->win);
		} else {
			u64 less = least(diff, s->dwnd);
			s->dwnd -= less;
			w->cwnd = greatest(beyond(w->cwnd, less), WHOLE(1));
			lower_ssthresh(w);
		}
	}
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (ack->rtt_us) {
		if (!s->base_rtt_us || ack->rtt_us < s->base_rtt_us)
			s->base_rtt_us = ack->rtt_us;
		if (s->win) {
			if (!s->samples || ack->rtt_us < s->least_rtt_us)
				s->least_rtt_us = ack->rtt_us;
			s->samples++;
		}
	}
	bool ended = passed(&s->round, ack).duration_us && s->win;
	if (in_slow_start(w)) {
		s->dwnd = 0;
		s->growth = 0;
		slow_start(w, ack->acked);
	} else {
		u64 more = step(w, s->growth, ack->acked);
		s->dwnd += more;
		w->cwnd += standard_step(w, ack->acked) + more;
		if (ended)
			adjust(s, w);
	}
	if (ended || !s->win) {
		s->win = w->cwnd;
		s->samples = 0;
	}
}

/* Discards what the unfinished round trip has measured: it says nothing about the next one. */
static void begin(struct state *s)
{
	restart(&s->round);
	s->win = 0;
	s->samples = 0;
	s->growth = 0;
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	/* beta is 1/2: cwnd and dwnd together lose half */
	u64 cwnd = beyond(w->cwnd, s->dwnd) / 2;

	s->before = s->dwnd;
	w->ssthresh = w->cwnd / 2;
	s->dwnd = beyond(w->ssthresh, cwnd);
	begin(s);
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w) { s->dwnd = 0; }

static void on_recovered(struct state *s, const struct ack *ack, struct window *w)
{
	/* recovery may end below ssthresh */
	if (w->cwnd < w->ssthresh)
		s->dwnd = (s->dwnd >> 16) * (w->cwnd >> 32) / greatest(w->ssthresh >> 32, 1) << 16;
	begin(s);
}

static void on_undo(struct state *s, const struct window *w)
{
	s->dwnd = s->before;
	begin(s);
}

ALGORITHM("lf_ctcp", .on_ack = on_ack, .on_congestion = on_congestion, .on_timeout = on_timeout,
	  .on_recovered = on_recovered, .on_undo = on_undo)
