// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP Veno (Fu, Liew 2003); crates/transport/src/cc/veno.rs. */
#include "lf.h"

#define BETA SEGMENTS(3)                /* fewer queued segments make a loss a random one */
#define RANDOM_LOSS_LEAVES SHARE(0.8)
#define RTT_PLACES 10                   /* binary places of the smoothed round-trip time */

struct state {
	u32 base_us;   /* the least since the last congestion event; 0: none */
	u64 rtt;       /* smoothed, in us with 10 binary places; 0: none */
	bool long_queue;
};

static void on_sample(struct state *s, const struct ack *ack)
{
	u64 rtt = (u64)ack->rtt_us << RTT_PLACES;

	if (!ack->rtt_us)
		return;
	if (!s->base_us || ack->rtt_us < s->base_us)
		s->base_us = ack->rtt_us;
	s->rtt = s->rtt ? s->rtt - s->rtt / 8 + rtt / 8 : rtt;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	u64 rtt_us = (s->rtt + (1 << (RTT_PLACES - 1))) >> RTT_PLACES;

	s->long_queue = queued(w->cwnd, s->base_us, rtt_us) >= BETA;
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += step(w, s->long_queue ? SHARE(0.5) : SHARE(1), ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = s->long_queue ? w->cwnd / 2 : part(w->cwnd, RANDOM_LOSS_LEAVES);
	s->base_us = 0;
	s->rtt = 0;
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

ALGORITHM("lf_veno", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_timeout = on_timeout)
