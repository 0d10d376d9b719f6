// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Data Center TCP (RFC 8257), variant "rfc8257"; crates/transport/src/cc/dctcp.rs.
 *
 * What the kernel's interface decides: a receiver in the kernel answers a change of its state with up to two
 * acknowledgements, one of them for what came before (RFC 8257, section 3.2, permits both ways). All segments
 * of an acknowledgement count as its ECE bit says. PRR brings cwnd to ssthresh over a round trip.
 */
#define ECHOES_MARKS /* both ends negotiate ECN, and the receiver tells of every mark */
#include "lf.h"

#define ALPHA_PLACES 32
#define MOST ((u64)1 << ALPHA_PLACES)
#define G 16 /* 1 / g */

struct state {
	u64 unmarked;      /* 1 - alpha, 32 binary places: alpha is 1 at the beginning, and the state all zeros */
	u32 window_end;    /* the window of observation ends when this byte is acknowledged */
	u32 delivered;     /* before the window of observation */
	u32 marked;
	bool begun;
};

static void on_sample(struct state *s, const struct ack *ack)
{
	u32 delivered = ack->delivered - s->delivered, marked = ack->marked - s->marked;
	u64 alpha = MOST - s->unmarked, share;

	if (s->begun && (s32)(ack->unacknowledged - s->window_end) <= 0)
		return;
	share = delivered ? ((u64)least(marked, delivered) << ALPHA_PLACES) / delivered : 0;
	s->unmarked = MOST - (alpha - alpha / G + share / G);
	s->window_end = ack->next;
	s->delivered = ack->delivered;
	s->marked = ack->marked;
	s->begun = true;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	w->cwnd += standard_step(w, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd - part(w->cwnd, (MOST - s->unmarked) >> (ALPHA_PLACES - 15)); /* alpha / 2 */
}

static void halve(struct state *s, const struct ack *ack, struct window *w) { w->ssthresh = w->cwnd / 2; }

ALGORITHM("lf_dctcp", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_loss = halve, .on_timeout = halve)
