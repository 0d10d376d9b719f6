// SPDX-License-Identifier: MIT OR Apache-2.0
/* TCP Vegas (Brakmo, Peterson 1995), its rates as Lopez Pacheco (2008) writes them;
 * crates/transport/src/cc/vegas.rs. */
#include "lf.h"

#define RATE_PLACES 6               /* binary places of a rate in bytes per second */
#define ALPHA (30000 << RATE_PLACES)
#define BETA (60000 << RATE_PLACES)
#define GAMMA 1                     /* more queued segments than this end slow-start */
#define SLOW_START_LEAVES SHARE(0.875)
#define LEAST_CWND SEGMENTS(2)

enum course { GROW, STAY, SHRINK }; /* until the round trip ends */

struct state {
	struct round round;
	u32 least_rtt_us; /* in this round trip; 0: none */
	u8 course;
};

static void on_sample(struct state *s, const struct ack *ack)
{
	if (ack->rtt_us && (!s->least_rtt_us || ack->rtt_us < s->least_rtt_us))
		s->least_rtt_us = ack->rtt_us;
}

/* Decides at the end of a round trip. */
static void decide(struct state *s, const struct ack *ack, u64 sent_bytes, struct window *w)
{
	u64 base_us = greatest(ack->base_rtt_us, 1), rtt_us = s->least_rtt_us;
	/* Expected and Actual count the data in transit. With cwnd, data that a delayed acknowledgement holds back
	 * would look like a queue. */
	u64 sent = sent_bytes * 1000000 << RATE_PLACES;
	u64 diff = beyond(sent / base_us, sent / rtt_us);

	if (!in_slow_start(w)) {
		s->course = diff < ALPHA ? GROW : diff > BETA ? SHRINK : STAY;
	} else if (s->course == GROW) {
		s->course = STAY; /* only a round trip with a constant window can be compared */
	} else if (diff * base_us > (u64)GAMMA * ack->segment_bytes * 1000000 << RATE_PLACES) {
		w->cwnd = greatest(part(w->cwnd, SLOW_START_LEAVES), LEAST_CWND);
		w->ssthresh = LEAST_SSTHRESH;
		s->course = STAY;
	} else {
		s->course = GROW;
	}
}

static void on_ack(struct state *s, const struct ack *ack, struct window *w)
{
	struct trip trip = passed(&s->round, ack);

	if (trip.duration_us) {
		if (s->least_rtt_us)
			decide(s, ack, trip.sent_bytes, w);
		s->least_rtt_us = 0;
	}
	if (s->course == GROW && in_slow_start(w)) {
		slow_start(w, ack->acked);
	} else if (s->course == GROW) {
		w->cwnd += standard_step(w, ack->acked);
	} else if (s->course == SHRINK) {
		w->cwnd = greatest(beyond(w->cwnd, standard_step(w, ack->acked)), LEAST_CWND);
		lower_ssthresh(w); /* slow-start must not take back what it gives up */
	}
}

static void on_congestion(struct state *s, const struct ack *ack, struct window *w)
{
	w->ssthresh = w->cwnd / 2;
	s->course = GROW;
	restart(&s->round);
}

/* Discards what was measured, which belongs to another window. */
static void begin(struct state *s, const struct window *w)
{
	restart(&s->round);
	s->course = in_slow_start(w) ? GROW : STAY;
	s->least_rtt_us = 0;
}

static void on_recovered(struct state *s, const struct ack *ack, struct window *w) { begin(s, w); }

static void on_undo(struct state *s, const struct window *w) { begin(s, w); }

ALGORITHM("lf_vegas", .on_sample = on_sample, .on_ack = on_ack, .on_congestion = on_congestion,
	  .on_recovered = on_recovered, .on_undo = on_undo)
