// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs the same algorithm as a program: it reads one event per line from standard input, and prints the
 * window after each event, in segments. A third number is the time in us in which a cwnd is paced out, if it
 * has one.
 *
 *     ack NOW_US ACKED RTT_US BASE_RTT_US SRTT_US DELIVERED NEXT UNACKNOWLEDGED MARKED
 *     loss | mark | timeout NOW_US BASE_RTT_US SRTT_US     recovery sets cwnd to ssthresh, or to 1, at once
 *     recovered NOW_US BASE_RTT_US SRTT_US
 *     undone CWND SSTHRESH                          whole segments, here and below
 *     window CWND SSTHRESH
 *     segment BYTES
 *
 * The events of an algorithm that models the path are these, and window, segment and timeout:
 *
 *     open NOW_US
 *     delivery NOW_US NEWLY LOST RTT_US SRTT_US DELIVERED PRIOR_DELIVERED
 */
#ifndef LF_HOST_H
#define LF_HOST_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int serve(const struct hooks *hooks, struct state *state)
{
	struct ack ack = {.segment_bytes = 1};
	struct window w = {WHOLE(10), WHOLE(0x7fffffff)};
	char line[256], event[16];
	u32 srtt_us = 0;

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t v[9] = {0};
		sscanf(line, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		       " %" SCNu64 " %" SCNu64, event, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7, v + 8);
		if (!strcmp(event, "window") || !strcmp(event, "undone")) {
			w = (struct window){WHOLE(v[0]), WHOLE(v[1])};
			if (event[0] == 'u' && hooks->on_undo)
				hooks->on_undo(state, &w);
		} else if (!strcmp(event, "segment")) {
			ack.segment_bytes = v[0];
		} else if (!strcmp(event, "ack")) {
			ack.now_us = v[0];
			ack.acked = v[1];
			ack.rtt_us = v[2];
			ack.base_rtt_us = v[3];
			ack.srtt_us = v[4];
			ack.delivered = v[5];
			ack.next = v[6] * ack.segment_bytes;
			ack.unacknowledged = v[7] * ack.segment_bytes;
			ack.marked = v[8];
			if (hooks->on_sample)
				hooks->on_sample(state, &ack);
			hooks->on_ack(state, &ack, &w);
		} else if (!strcmp(event, "open")) {
			hooks->on_open(state, v[0]);
		} else if (!strcmp(event, "delivery")) {
			struct delivery delivery = {
				.now_us = v[0],
				.newly = v[1],
				.lost = v[2],
				.rtt_us = v[3],
				.srtt_us = v[4],
				.delivered = v[5],
				.prior_delivered = v[6],
				.has_prior = true,
			};
			srtt_us = v[4];
			hooks->on_delivery(state, &delivery, &w);
		} else {
			ack.now_us = v[0];
			ack.base_rtt_us = v[1];
			ack.srtt_us = v[2];
			if (!strcmp(event, "recovered")) {
				if (hooks->on_recovered)
					hooks->on_recovered(state, &ack, &w);
			} else {
				bool timeout = !strcmp(event, "timeout");
				if (timeout && !hooks->on_congestion)
					w.cwnd = WHOLE(1); /* nothing is in flight */
				if (hooks->on_congestion)
					hooks->on_congestion(state, &ack, &w);
				if (!strcmp(event, "loss") && hooks->on_loss)
					hooks->on_loss(state, &ack, &w);
				if (timeout && hooks->on_timeout)
					hooks->on_timeout(state, &ack, &w);
				w.ssthresh = greatest(w.ssthresh, LEAST_SSTHRESH);
				w.cwnd = timeout ? WHOLE(1) : w.ssthresh;
			}
		}
		printf("%.9f %.9f", (double)w.cwnd / (double)WHOLE(1), (double)w.ssthresh / (double)WHOLE(1));
		if (hooks->pacing_us)
			printf(" %" PRIu32, hooks->pacing_us(state, srtt_us));
		putchar('\n');
	}
	return 0;
}

#define ALGORITHM(NAME, ...) \
	int main(void)                                                                                         \
	{                                                                                                      \
		static const struct hooks hooks = {__VA_ARGS__};                                               \
		static struct state state;                                                                     \
		return serve(&hooks, &state);                                                                  \
	}

#endif
