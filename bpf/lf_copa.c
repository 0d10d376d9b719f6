// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Copa (Arun, Balakrishnan 2018); crates/transport/src/cc/copa.rs.
 *
 * What the kernel's interface decides: round-trip times are whole microseconds, and their extremes come from
 * samples a 32nd of a window apart (recent.h). v / delta, the segments of a round trip, is at most 32767. The
 * kernel paces by sk_pacing_rate alone; the time of a single packet is its own affair. The state is too large
 * for a connection's private memory and is stored with the socket.
 */
#define MODELS_PATH
#include "lf.h"
#include "recent.h"

#define INVERSE_DELTA SHARE(2) /* of the default mode */
#define LEAST_RTT_WINDOW_US 10000000
#define EQUAL_DIRECTIONS 3
#define EMPTY_SRTTS 5    /* the memory of a nearly empty queue */
#define GREATEST_SRTTS 4
#define SEVERE_SEGMENTS 20
#define SEVERE_SRTTS 2
#define SEVERE_LEFT SHARE(0.7)
#define LEAST_CWND SEGMENTS(2)

enum direction { UNKNOWN, UP, DOWN };

/* What the round-trip times say now. */
struct delays {
	u32 standing_us, queueing_us;
	bool nearly_empty;
};

struct state {
	struct recent standing, least, greatest;
	u64 cwnd;          /* when the round trip began */
	u64 v;             /* 16 binary places; 0: 1 */
	u64 inverse_delta; /* 16 binary places, in competitive mode; 0: not in it */
	u32 standing_us;
	u32 round_end;     /* it ends with a segment that left when this much had been delivered */
	u32 equal;         /* how often the direction has been the same as before */
	u32 empty_at;      /* times are in us, and wrap */
	u32 grown_at, halved_at;
	u32 losses_since, lost, segments;
	u8 direction;
	bool after_slow_start, halved, found_lost;
};

static u64 inverse_delta_of(const struct state *s)
{
	return s->inverse_delta ? s->inverse_delta : INVERSE_DELTA;
}

static u64 velocity_of(const struct state *s) { return s->v ? s->v : SHARE(1); }

static void on_open(struct state *s, u64 now_us)
{
	s->empty_at = now_us;
	s->losses_since = now_us;
}

/* Returns whether there is a round-trip time. */
static bool measure(struct state *s, const struct delivery *d, struct delays *delays)
{
	u32 now = d->now_us, least_us, greatest_us;

	s->standing_us = extreme(&s->standing, now, d->rtt_us, d->srtt_us / 2, false);
	least_us = extreme(&s->least, now, d->rtt_us, LEAST_RTT_WINDOW_US, false);
	greatest_us = extreme(&s->greatest, now, d->rtt_us, GREATEST_SRTTS * d->srtt_us, true);
	delays->standing_us = s->standing_us;
	delays->queueing_us = beyond(s->standing_us, least_us);
	delays->nearly_empty = 10 * (u64)delays->queueing_us <= beyond(greatest_us, least_us);
	return s->standing_us;
}

/* Competitive mode: 1/delta follows additive increase and multiplicative decrease. */
static void compete(struct state *s, u32 now, bool lost, u32 srtt_us)
{
	if (!s->inverse_delta) {
		s->inverse_delta = INVERSE_DELTA;
		s->grown_at = now;
		s->halved = false;
	}
	if (lost) {
		if (!s->halved || now - s->halved_at > srtt_us) {
			s->inverse_delta = greatest(s->inverse_delta / 2, INVERSE_DELTA);
			s->halved = true;
			s->halved_at = now;
			s->grown_at = now;
		}
	} else if (now - s->grown_at > srtt_us) {
		s->inverse_delta += SHARE(1);
		s->grown_at = now;
	}
}

static void choose_mode(struct state *s, const struct delivery *d, const struct delays *delays, bool lost)
{
	u32 now = d->now_us;

	if (delays->nearly_empty)
		s->empty_at = now;
	if (now - s->empty_at <= EMPTY_SRTTS * d->srtt_us)
		s->inverse_delta = 0;
	else
		compete(s, now, lost, d->srtt_us);
}

static void turn(struct state *s, u8 direction)
{
	s->v = SHARE(1);
	s->direction = direction;
	s->equal = 0;
}

static void begin_round(struct state *s, const struct delivery *d, const struct window *w)
{
	s->cwnd = w->cwnd;
	s->round_end = d->delivered;
}

static void end_round(struct state *s, const struct delivery *d, const struct window *w)
{
	u8 direction = w->cwnd > s->cwnd ? UP : DOWN;

	if (s->direction != direction)
		turn(s, direction);
	else if (++s->equal >= EQUAL_DIRECTIONS)
		s->v = 2 * velocity_of(s);
	begin_round(s, d, w);
}

static void move(struct state *s, const struct delivery *d, const struct delays *delays, struct window *w)
{
	u64 inverse_delta = inverse_delta_of(s), change;
	/* cwnd / standing <= 1 / (delta queueing), with 12 binary places of cwnd and of 1 / delta */
	bool up = (w->cwnd >> 20) * delays->queueing_us <= (inverse_delta >> 4) * delays->standing_us;
	u8 direction = up ? UP : DOWN;

	if (up && d->app_limited)
		return;
	if (!s->after_slow_start) {
		if (up) {
			w->cwnd += WHOLE(d->newly);
			return;
		}
		s->after_slow_start = true;
		w->ssthresh = w->cwnd;
		turn(s, UNKNOWN);
		begin_round(s, d, w);
	} else if (d->has_prior && (s32)(d->prior_delivered - s->round_end) >= 0) {
		end_round(s, d, w);
	}
	if (s->direction != direction && velocity_of(s) > SHARE(1))
		turn(s, direction);
	s->v = greatest(least(velocity_of(s), w->cwnd / inverse_delta), SHARE(1));
	change = step(w, s->v * inverse_delta >> 16, d->newly);
	w->cwnd = up ? w->cwnd + change : greatest(beyond(w->cwnd, change), LEAST_CWND);
}

/* Counts losses; returns whether a period with severe loss has ended. */
static bool is_severe(struct state *s, const struct delivery *d)
{
	u32 now = d->now_us;
	bool severe;

	s->lost += d->lost;
	s->segments += d->newly + d->lost;
	if (s->segments <= SEVERE_SEGMENTS || now - s->losses_since <= SEVERE_SRTTS * d->srtt_us)
		return false;
	severe = 10 * (u64)s->lost > 3 * (u64)s->segments;
	s->losses_since = now;
	s->lost = 0;
	s->segments = 0;
	return severe;
}

static void on_delivery(struct state *s, const struct delivery *d, struct window *w)
{
	struct delays delays = {};
	bool lost = s->found_lost || d->lost;

	s->found_lost = false;
	if (measure(s, d, &delays)) {
		choose_mode(s, d, &delays, lost);
		if (d->newly)
			move(s, d, &delays, w);
	}
	if (is_severe(s, d))
		w->cwnd = part(w->cwnd, SEVERE_LEFT);
	w->cwnd = greatest(w->cwnd, LEAST_CWND);
}

static void on_timeout(struct state *s, const struct ack *ack, struct window *w)
{
	s->found_lost = true;
	s->after_slow_start = false;
	w->ssthresh = WHOLE(0x7fffffff);
}

/* Paced at 2 cwnd / RTTstanding. */
static u32 pacing_us(const struct state *s, u32 srtt_us)
{
	return (s->standing_us ? s->standing_us : srtt_us) / 2;
}

ALGORITHM("lf_copa", .on_timeout = on_timeout, .on_open = on_open, .on_delivery = on_delivery,
	  .pacing_us = pacing_us)
