// SPDX-License-Identifier: MIT OR Apache-2.0
/* H-TCP as Li, Leith and Shorten (2007) write it; crates/transport/src/cc/htcp.rs. */
#include "lf.h"

#define DELTA_L_US 1000000     /* after a congestion event, growth is standard for this long */
#define LINEAR 10              /* 1/s */
#define QUADRATIC SHARE(0.25)  /* 1/s^2 */
#define GREATEST_D_US 500000000ULL
#define RTT_REFERENCE_US 100000
#define DELTA_B_INVERSE 5      /* halve the window if the throughput has changed by more than a fifth */
#define BETA_MIN SHARE(0.5)
#define BETA_MAX SHARE(0.8)
#define MAX_RTT_DECAY SHARE(0.95)
#define MAX_RTT_STEP_US 20000
#define EPOCH_START_ROUNDS 3

struct epoch {
	u64 congested_us;      /* beginning of Delta; 0: not yet */
	u32 max_rtt_us;
	u32 throughput_before; /* the greatest of the previous epoch; segments per second, 10 binary places */
	u32 beta;              /* 0: not set yet */
};

struct state {
	struct epoch epoch, before;
	struct round round;
	u32 throughput, greatest_throughput; /* in this epoch */
	bool recovering, undoable;
};

/* f(Delta), segments per round trip. */
static u64 increase(u64 since_us, u64 base_rtt_us)
{
	if (since_us <= DELTA_L_US)
		return SHARE(1);
	u64 d_us = least(since_us - DELTA_L_US, GREATEST_D_US);
	u64 d = (d_us << 16) / 1000000;
	u64 f = SHARE(1) + LINEAR * d + ((d * d >> 16) * QUADRATIC >> 16);
	return greatest(f * base_rtt_us / RTT_REFERENCE_US, SHARE(1));
}

static void begin(struct state *s, const struct ack *ack)
{
	if (!s->epoch.congested_us)
		s->epoch.congested_us = ack->now_us;
	if (!s->epoch.beta)
		s->epoch.beta = BETA_MIN;
}

static void recovered(struct state *s)
{
	s->recovering = false;
	restart(&s->round);
}

static void on_sample(struct state *s, const struct ack *ack)
{
	if (s->recovering)
		return; /* acknowledgements in recovery say little about the path */
	begin(s, ack);
	if (ack->rtt_us) {
		u32 known = greatest(s->epoch.max_rtt_us, ack->base_rtt_us);
		bool believed = ack->rtt_us > known && ack->rtt_us <= known + MAX_RTT_STEP_US;
		s->epoch.max_rtt_us = believed ? ack->rtt_us : known;
	}
	struct trip trip = passed(&s->round, ack);
	if (!trip.duration_us)
		return;
	u32 sample = throughput(trip);
	u64 epoch_us = ack->now_us - s->epoch.congested_us;
	if (!s->throughput || epoch_us <= EPOCH_START_ROUNDS * (u64)ack->base_rtt_us) {
		s->throughput = sample;
		s->greatest_throughput = sample;
	} else {
		s->throughput = (3ULL * s->throughput + sample) / 4;
		s->greatest_throughput = greatest(s->greatest_throughput, s->throughput);
	}
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (s->recovering)
		recovered(s);
	begin(s, ack);
	if (in_slow_start(w))
		return slow_start(w, ack->acked);
	u64 f = increase(ack->now_us - s->epoch.congested_us, ack->base_rtt_us);
	w->cwnd += step(w, 2 * (SHARE(1) - s->epoch.beta) * f >> 16, ack->acked);
}

static u64 backoff(const struct state *s, u64 base_rtt_us)
{
	u64 before = s->epoch.throughput_before, last = s->greatest_throughput;
	u64 change = before > last ? before - last : last - before;

	if (!before || change * DELTA_B_INVERSE > before || !s->epoch.max_rtt_us)
		return SHARE(0.5);
	return greatest(least((base_rtt_us << 16) / s->epoch.max_rtt_us, BETA_MAX), BETA_MIN);
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	begin(s, ack);
	s->before = s->epoch;
	s->undoable = true;
	s->recovering = true;
	s->epoch.congested_us = ack->now_us;
	s->epoch.beta = backoff(s, ack->base_rtt_us);
	s->epoch.throughput_before = s->greatest_throughput;
	u64 queueing = beyond(s->epoch.max_rtt_us, ack->base_rtt_us);
	if (queueing) /* routes change, so an old greatest round-trip time decays */
		s->epoch.max_rtt_us = ack->base_rtt_us + (queueing * MAX_RTT_DECAY >> 16);
	w->ssthresh = part(w->cwnd, s->epoch.beta);
}

static void on_recovered(struct state *s, const struct ack *ack, struct window *w)
{
	if (s->recovering)
		recovered(s);
}

static void on_undo(struct state *s, const struct window *w)
{
	if (s->undoable)
		s->epoch = s->before;
	s->undoable = false;
	recovered(s);
}

ALGORITHM("lf_htcp", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_recovered = on_recovered, .on_undo = on_undo)
