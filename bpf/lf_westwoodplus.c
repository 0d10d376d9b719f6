// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP Westwood+ (Dell'Aera, Grieco, Mascolo 2004); crates/transport/src/cc/westwood.rs. */
#include "lf.h"

#define LEAST_INTERVAL_US 50000 /* the shortest bandwidth sample */

struct state {
	u64 rough, bandwidth; /* first and second filter: segments per second, 16 binary places */
	u64 since_us;         /* beginning of the current sample; 0: none */
	u64 estimate;         /* ssthresh after the end of recovery; 0: none */
	u32 rtt_us;           /* the last one measured */
	u32 delivered;        /* before the current sample */
};

static u64 filtered(u64 past, u64 sample) { return (7 * past + sample) / 8; }

static void on_sample(struct state *s, const struct ack *ack)
{
	if (ack->rtt_us)
		s->rtt_us = ack->rtt_us;
	if (!s->since_us) {
		s->since_us = ack->now_us;
		s->delivered = ack->delivered;
		return;
	}
	u64 span_us = ack->now_us - s->since_us;
	u32 arrived = ack->delivered - s->delivered;
	if (!s->rtt_us || span_us < greatest(s->rtt_us, LEAST_INTERVAL_US) || !arrived)
		return;
	u64 sample = ((u64)arrived * 1000000 << 16) / span_us;
	if (s->bandwidth) {
		s->rough = filtered(s->rough, sample);
		s->bandwidth = filtered(s->bandwidth, s->rough);
	} else {
		s->rough = sample;
		s->bandwidth = sample;
	}
	s->since_us = ack->now_us;
	s->delivered = ack->delivered;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += standard_step(w, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	/* how much the path holds without a queue */
	u64 pipe = s->bandwidth ? (s->bandwidth * ack->base_rtt_us / 1000000) << 16 : w->cwnd / 2;

	s->estimate = greatest(pipe, LEAST_SSTHRESH);
	w->ssthresh = least(s->estimate, w->cwnd);
}

static void on_recovered(struct state *s, const struct ack *ack, struct window *w)
{
	if (s->estimate)
		w->ssthresh = s->estimate; /* may be above cwnd */
	s->estimate = 0;
}

static void on_undo(struct state *s, const struct window *w) { s->estimate = 0; }

ALGORITHM("lf_westwoodplus", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_recovered = on_recovered, .on_undo = on_undo)
