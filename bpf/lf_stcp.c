// SPDX-License-Identifier: MIT OR Apache-2.0
/* Scalable TCP (Kelly 2003); crates/transport/src/cc/stcp.rs. */
#include "lf.h"

#define INCREASE SEGMENTS(0.01) /* per segment */
#define DECREASE SHARE(0.125)
#define LOW_WINDOW SEGMENTS(16)

struct state {};

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += w->cwnd < LOW_WINDOW ? standard_step(w, ack->acked) : ack->acked * INCREASE;
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd < LOW_WINDOW ? w->cwnd / 2 : w->cwnd - part(w->cwnd, DECREASE);
}

ALGORITHM("lf_stcp", .on_ack = on_ack, .on_congestion = on_congestion)
