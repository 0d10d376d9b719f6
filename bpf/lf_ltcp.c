// SPDX-License-Identifier: MIT OR Apache-2.0
/* LTCP (Bhandarkar, Jain, Reddy 2006); crates/transport/src/cc/ltcp.rs. */
#include "lf.h"

#define WINDOW_THRESHOLD 50 /* segments at which the second layer begins */
#define DECREASE SHARE(0.15)
#define GREATEST_LAYER 200  /* it begins at 67 million segments */

struct state {
	u32 layer; /* 0 before the first acknowledgement, which counts as 1 */
};

/* Returns the window at which a layer begins. */
static u64 beginning(u64 layer)
{
	return WHOLE(WINDOW_THRESHOLD * layer * (layer + 1) * (layer - 1)) / 6;
}

/* Adds layers as the window grows; only a loss removes one. */
static void climb(struct state *s, u64 cwnd)
{
	u32 layer = greatest(s->layer, 1);

	for (int i = 0; i < GREATEST_LAYER; i++) {
		if (layer >= GREATEST_LAYER || cwnd < beginning(layer + 1))
			break;
		layer++;
	}
	s->layer = layer;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	climb(s, w->cwnd);
	w->cwnd += s->layer * standard_step(w, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	climb(s, w->cwnd);
	w->ssthresh = s->layer > 1 ? w->cwnd - part(w->cwnd, DECREASE) : w->cwnd / 2;
	if (s->layer > 1 && w->ssthresh < beginning(s->layer))
		s->layer--;
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w)
{
	s->layer = 1; /* slow-start finds the layer again */
}

ALGORITHM("lf_ltcp", .on_ack = on_ack, .on_congestion = on_congestion, .on_timeout = on_timeout)
