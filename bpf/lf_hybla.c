// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP Hybla (Caini, Firrincieli 2004); crates/transport/src/cc/hybla.rs. */
#include "lf.h"
#include "logarithm.h"

#define RTT0_US 25000
#define GREATEST_EXPONENT LOG(16)

struct state {
	u32 least_us; /* the round-trip time that rho comes from; 0: none measured */
	u64 rho;      /* 24 binary places; 0: not yet known */
	u64 grown;    /* 2^rho - 1 segments, 32 binary places */
};

/* rho follows the least round-trip time. */
static void follow(struct state *s, const struct ack *ack)
{
	if (s->rho && ack->base_rtt_us == s->least_us)
		return;
	s->least_us = ack->base_rtt_us;
	s->rho = greatest(((u64)s->least_us << LOG_PLACES) / RTT0_US, LOG(1));
	s->grown = beyond(exp2_of(least(s->rho, GREATEST_EXPONENT)) << 16, SEGMENTS(1));
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	u64 share;

	follow(s, ack);
	if (in_slow_start(w)) {
		w->cwnd = least(w->cwnd + ack->acked * s->grown, w->ssthresh);
		return;
	}
	share = s->rho >> (LOG_PLACES - 16);
	w->cwnd += step(w, share * share >> 16, ack->acked);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

ALGORITHM("lf_hybla", .on_ack = on_ack, .on_congestion = on_congestion)
