// SPDX-License-Identifier: MIT OR Apache-2.0
/* JetMax (Zhang, Leonard, Loguinov 2006); crates/transport/src/cc/jetmax.rs. */
#define EXPLICIT_RATE
#define SETS_RATE
#define SPEAKS PROTOCOL_JETMAX
#include "lf.h"

#define TAU SHARE(0.6)
#define WINDOW_PER_RATE 2
#define GAPS_PER_SECOND 100000000ULL /* a gap is in 10 ns */

#define GREATEST_RATE (1ULL << 44) /* segments per second, 16 binary places */

/* The gap between packets at this rate. */
static u16 gap_code(u64 rate) { return rate ? compress((GAPS_PER_SECOND << 16) / rate) : 0; }

static u64 header(struct end *end, u64 cwnd, u32 rtt_us)
{
	u16 gap = gap_code(end->rate);

	if (!end->rate)
		gap = compress((u64)rtt_us * 100 * 65536 / greatest(cwnd >> 16, 65536));
	if (!end->told)
		return jetmax_word(0, 0, NO_RATE, gap);
	return jetmax_word(JETMAX_SUGGESTED(end->told), JETMAX_LOSS(end->told), JETMAX_RATE_CODE(end->told), gap);
}

static void arrive(struct end *end, u64 word) { end->waiting = word; }

static u64 echo(struct end *end) { return end->waiting | ECHO; }

static void returned(struct end *end, u64 word) { end->waiting = word; }

/* The rate after one step from that of the packet with this word. */
static u64 moved(const struct end *end, u64 word)
{
	u64 gap = expand(JETMAX_GAP_CODE(word)), router = JETMAX_SUGGESTED(word);
	u64 now = gap ? (GAPS_PER_SECOND << 16) / gap : 0;
	u64 fair = GREATEST_RATE, next;

	if (JETMAX_RATE_CODE(word) != NO_RATE && end->packet_bytes) /* kbit/s to segments per second with 16 binary places */
		fair = least(expand(JETMAX_RATE_CODE(word)), 1ULL << 32) * 125 / end->packet_bytes << 16;
	fair = least(fair, GREATEST_RATE);
	next = now > fair ? now - ((now - fair) * TAU >> 16) : now + ((fair - now) * TAU >> 16);
	if (next < now || (router && JETMAX_BOTTLENECK(word) == router && !JETMAX_LOSS(word)))
		return next;
	return now;
}

static u64 least_rate(const struct moment *moment)
{
	return moment->srtt_us ? (1000000ULL << 16) / moment->srtt_us : 1 << 16;
}

static void follow(struct end *end, struct window *w, const struct moment *moment)
{
	u64 word = end->waiting, next;

	end->waiting = 0;
	if (word && !JETMAX_HOPS(word)) {
		end->rate = 0;
		end->told = 0;
	} else if (word) {
		if (!end->rate && moment->srtt_us)
			end->rate = (w->cwnd >> 16) * 1000000 / moment->srtt_us;
		end->told = word;
		/* this packet was sent at the present rate */
		if (!moment->recovering && JETMAX_GAP_CODE(word) == gap_code(end->rate)) {
			next = moved(end, word);
			if (moment->limited || next < end->rate)
				end->rate = next;
		}
	}
	if (!end->rate)
		return grow(w, moment);
	end->rate = greatest(end->rate, least_rate(moment));
	w->cwnd = greatest((end->rate >> 8) * moment->srtt_us / 1000000 * WINDOW_PER_RATE << 24, WHOLE(1));
}

static u64 rate(const struct end *end) { return end->rate; }

/* One segment per round trip is the least, which follow() sees to. */
static void reduce(struct end *end, bool timeout)
{
	if (end->rate)
		end->rate = timeout ? 1 : greatest(end->rate / 2, 1);
}

EXPLICIT_ALGORITHM("lf_jetmax")
