// SPDX-License-Identifier: MIT OR Apache-2.0
/* HighSpeed TCP (RFC 3649), with its equations rather than its table; crates/transport/src/cc/hstcp.rs. */
#include "highspeed.h"

struct state {
	struct hs_band band;
};

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += hs_step(&s->band, w, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd - part(w->cwnd, hs_decrease(w->cwnd >> 32));
}

ALGORITHM("lf_hstcp", .on_ack = on_ack, .on_congestion = on_congestion)
