// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP-Africa (King, Baraniuk, Riedi 2005); crates/transport/src/cc/africa.rs. */
#include "highspeed.h"

#define ALPHA SEGMENTS(1.641) /* own queue above which growth is slow */

struct state {
	struct hs_band band;
};

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	if (queued(w->cwnd, ack->base_rtt_us, ack->srtt_us) > ALPHA)
		w->cwnd += standard_step(w, ack->acked);
	else
		w->cwnd += hs_step(&s->band, w, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

ALGORITHM("lf_africa", .on_ack = on_ack, .on_congestion = on_congestion)
