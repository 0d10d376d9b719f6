// SPDX-License-Identifier: MIT OR Apache-2.0
/* YeAH-TCP (Baiocchi, Castellani, Vacirca 2007); crates/transport/src/cc/yeah.rs. */
#include "lf.h"

#define QUEUE_MAX SEGMENTS(80)
#define PHI 8                    /* slow mode from a queueing delay of RTTbase / PHI */
#define RHO 16                   /* after this many slow round trips, a loss halves the window */
#define ZETA 50                  /* after this many fast round trips, count_reno restarts */
#define INCREASE SEGMENTS(0.01)  /* per segment */
#define LEAST_DECREASE SHARE(0.125)

/* Round trips in either mode, and what they tell about competing flows. */
struct counts {
	u32 slow, fast;
	u64 reno; /* segments; 0: not set yet */
};

struct state {
	u64 queue; /* in the last round trip */
	struct counts counts, before;
	struct round round;
	u32 least_rtt_us; /* in this round trip; 0: none */
	bool undoable;
};

static void on_sample(struct state *s, const struct ack *ack)
{
	if (ack->rtt_us && (!s->least_rtt_us || ack->rtt_us < s->least_rtt_us))
		s->least_rtt_us = ack->rtt_us;
}

/* At the end of a round trip, chooses the mode of the next one, and decongests. */
static void judge(struct state *s, const struct ack *ack, struct window *w)
{
	u64 queueing_us = beyond(s->least_rtt_us, ack->base_rtt_us);

	if (!s->counts.reno)
		s->counts.reno = w->cwnd / 2;
	if (!s->least_rtt_us)
		return;
	s->queue = queued(w->cwnd, ack->base_rtt_us, s->least_rtt_us);
	if (s->queue < QUEUE_MAX && PHI * queueing_us < ack->base_rtt_us) {
		s->counts.slow = 0;
		if (++s->counts.fast > ZETA) {
			s->counts.fast = 0;
			s->counts.reno = w->cwnd / 2;
		}
		return;
	}
	if (s->queue > QUEUE_MAX && w->cwnd > s->counts.reno) {
		w->cwnd = greatest(greatest(w->cwnd - s->queue, s->counts.reno), LEAST_SSTHRESH);
		w->ssthresh = greatest(w->cwnd / 2, LEAST_SSTHRESH);
	}
	s->counts.slow++;
	s->counts.reno += WHOLE(1);
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w)) {
		slow_start(w, ack->acked);
	} else {
		u64 standard = standard_step(w, ack->acked);
		w->cwnd += s->counts.slow ? standard : greatest(standard, ack->acked * INCREASE);
	}
	if (passed(&s->round, ack).duration_us) {
		judge(s, ack, w);
		s->least_rtt_us = 0;
	}
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	u64 less = greatest(s->queue, part(w->cwnd, LEAST_DECREASE));

	s->before = s->counts;
	s->undoable = true;
	w->ssthresh = s->counts.slow >= RHO ? w->cwnd / 2 : w->cwnd - least(less, w->cwnd / 2);
	s->counts.reno /= 2;
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

static void forget(struct state *s)
{
	restart(&s->round);
	s->least_rtt_us = 0;
}

static void on_recovered(struct state *s, const struct ack *ack, struct window *w) { forget(s); }

static void on_undo(struct state *s, const struct window *w)
{
	if (s->undoable)
		s->counts = s->before;
	s->undoable = false;
	forget(s);
}

ALGORITHM("lf_yeah", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_timeout = on_timeout, .on_recovered = on_recovered, .on_undo = on_undo)
