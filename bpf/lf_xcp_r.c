// SPDX-License-Identifier: MIT OR Apache-2.0
/* XCP-r (Lopez Pacheco 2008, section 5.3); crates/transport/src/cc/xcp_r.rs. */
#define EXPLICIT_RATE
#define SPEAKS PROTOCOL_XCP
#include "lf.h"

/* The window that the header tells: where a reduction under way will end. */
static u64 told(const struct end *end, u64 cwnd)
{
	return end->reducing_to ? least(cwnd, WHOLE(end->reducing_to)) : cwnd;
}

/* The flag is set while the receiver does not know of a window that was set otherwise. */
static u64 header(struct end *end, u64 cwnd, u32 rtt_us)
{
	u64 window = told(end, cwnd);
	u64 word = xcp_word(bytes_of(end, window), rtt_us, end->unlimited ? 0 : UNTOUCHED);

	return window == end->window ? word : word | RESET;
}

/* The receiver does XCP's sums: its window is the one that the sender would have. */
static void arrive(struct end *end, u64 word)
{
	u16 announced = word & RESET ? cwnd_code_of(word) : 0;
	u64 least_window = (u64)end->packet_bytes << PARTS_PLACES;

	end->waiting = word;
	if (announced != end->announced) {
		end->announced = announced;
		if (announced)
			end->window = expand(announced) << PARTS_PLACES;
	}
	end->untouched = is_untouched(word);
	if (!end->untouched) {
		s64 window = end->window + feedback_of(word);
		end->window = window < (s64)least_window ? least_window : window;
	}
}

static u64 echo(struct end *end)
{
	u64 number = end->untouched ? UNTOUCHED_ECHO : echoed(end->window);

	return xcp_echo(cwnd_code_of(end->waiting), number) | (end->waiting & RESET);
}

/* Each acknowledgement makes up for all before it. */
static void returned(struct end *end, u64 word)
{
	end->waiting = word;
	end->guided = echo_of(word) != UNTOUCHED_ECHO;
}

static void follow(struct end *end, struct window *w, const struct moment *moment)
{
	u64 word = end->waiting;
	u64 window;

	end->waiting = 0;
	if (!end->guided)
		return grow(w, moment);
	if (!word || !end->packet_bytes)
		return;
	/* packets sent before the window was set otherwise carry the old one */
	if (w->cwnd != end->window &&
	    !(word & RESET && cwnd_code_of(word) == compress(bytes_of(end, w->cwnd))))
		return;
	window = ((u64)echo_of(word) << (32 - PARTS_PLACES)) / end->packet_bytes;
	window = greatest(window, WHOLE(1));
	if (moment->limited || window < w->cwnd) {
		w->cwnd = window;
		end->window = window;
	}
}

EXPLICIT_ALGORITHM("lf_xcp_r")
