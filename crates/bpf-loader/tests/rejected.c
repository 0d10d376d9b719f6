// SPDX-License-Identifier: MIT OR Apache-2.0
/* Writes beyond the memory that a connection has for its algorithm, so the verifier has to reject it. */
#include "lf.h"

struct state {
	u64 value;
};

static void on_ack(struct state *s, const struct ack *ack, struct window *w) { s[100].value = ack->now_us; }

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

ALGORITHM("lf_rejected", .on_ack = on_ack, .on_congestion = on_congestion)
