// SPDX-License-Identifier: MIT OR Apache-2.0
/* FAST TCP as Li, Leith and Shorten (2007) write it; crates/transport/src/cc/fast.rs. */
#include "lf.h"

#define LEVELS 3
#define PACKET_BYTES 1500
#define RTT_PLACES 16
/* kB/s as segments of 1500 bytes per second, 10 binary places */
#define KBYTEPS(x) ((u64)(x) * 1000 * 1024 / PACKET_BYTES)

struct state {
	u64 mean_rtt;    /* us, 16 binary places; 0: none */
	u32 base_rtt_us;
	u8 level;
	bool fresh;      /* an acknowledgement has come since the last update */
	struct round round;
};

/* Returns how many segments to keep queued at a throughput level. */
static u64 alpha(u8 level) { return level == 0 ? SEGMENTS(8) : level == 1 ? SEGMENTS(20) : SEGMENTS(200); }

/* Moves one level up or down, with hysteresis. */
static u8 switched(u8 level, u64 rate)
{
	if (level == 0)
		return rate > KBYTEPS(1500) ? 1 : 0;
	if (level == 1)
		return rate > KBYTEPS(15000) ? 2 : rate < KBYTEPS(1250) ? 0 : 1;
	return rate < KBYTEPS(12500) ? 1 : 2;
}

static u64 over_mean(const struct state *s, u64 window)
{
	u64 mean_us = s->mean_rtt >> (RTT_PLACES - 4), base_us = (u64)s->base_rtt_us << 4;

	return in_ratio(window, least(base_us, mean_us), mean_us);
}

static void average(struct state *s, u64 rtt_us, u64 cwnd)
{
	u64 rtt = rtt_us << RTT_PLACES;
	u64 weight = least((3ULL << 48) / (cwnd >> 16), 1ULL << 29); /* min(3 / cwnd, 1/8), 32 binary places */

	if (!s->mean_rtt)
		s->mean_rtt = rtt;
	else if (rtt > s->mean_rtt)
		s->mean_rtt += ((rtt - s->mean_rtt) >> 8) * weight >> 24;
	else
		s->mean_rtt -= ((s->mean_rtt - rtt) >> 8) * weight >> 24;
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	if (ack->rtt_us) {
		average(s, ack->rtt_us, w->cwnd);
		s->base_rtt_us = ack->base_rtt_us;
		s->fresh = true;
	}
	struct trip trip = passed(&s->round, ack);
	if (trip.duration_us)
		s->level = switched(s->level, throughput(trip));
	u64 target = alpha(s->level);
	if (in_slow_start(w)) {
		if (!s->mean_rtt || w->cwnd - over_mean(s, w->cwnd) <= target)
			return slow_start(w, ack->acked);
		w->ssthresh = w->cwnd;
	}
	if (trip.duration_us && s->fresh) {
		s->fresh = false;
		w->cwnd = greatest((w->cwnd + over_mean(s, w->cwnd) + target) / 2, LEAST_SSTHRESH);
		lower_ssthresh(w);
	}
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
}

ALGORITHM("lf_fast", .on_ack = on_ack, .on_congestion = on_congestion, .paced = true)
