// SPDX-License-Identifier: MIT OR Apache-2.0
/* XCP (Katabi, Handley, Rohrs 2002); crates/transport/src/cc/xcp.rs. */
#define EXPLICIT_RATE
#define SPEAKS PROTOCOL_XCP
#include "lf.h"

static u64 header(struct end *end, u64 cwnd, u32 rtt_us)
{
	return xcp_word(bytes_of(end, cwnd), rtt_us, UNTOUCHED);
}

static void arrive(struct end *end, u64 word)
{
	end->waiting = word;
	if (is_untouched(word))
		end->untouched = 1;
	else
		end->sum += feedback_of(word);
}

static u64 echo(struct end *end)
{
	u64 number = end->untouched ? UNTOUCHED_ECHO : echoed(end->sum);

	return xcp_echo(cwnd_code_of(end->waiting), number);
}

/* What comes back in recovery is applied when that has ended. */
static void returned(struct end *end, u64 word)
{
	s64 parts = echo_of(word);

	end->guided = parts != UNTOUCHED_ECHO;
	if (end->guided)
		end->sum += parts;
}

static void follow(struct end *end, struct window *w, const struct moment *moment)
{
	s64 sum = end->sum;
	u64 size;

	end->sum = 0;
	if (!end->guided)
		return grow(w, moment);
	/* a window that is not used does not grow */
	if (!end->packet_bytes || (!moment->limited && sum >= 0))
		return;
	size = least(sum < 0 ? -sum : sum, GREATEST_ECHO >> 1);
	size = (size << (32 - PARTS_PLACES)) / end->packet_bytes;
	w->cwnd = greatest(sum < 0 ? beyond(w->cwnd, size) : w->cwnd + size, WHOLE(1));
}

EXPLICIT_ALGORITHM("lf_xcp")
