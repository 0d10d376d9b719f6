// SPDX-License-Identifier: MIT OR Apache-2.0
/* VCP (Xia, Subramanian, Stoica, Kalyanaraman 2005); crates/transport/src/cc/vcp.rs. */
#define EXPLICIT_RATE
#define SPEAKS PROTOCOL_VCP
#include "lf.h"
#include "logarithm.h"

#define T_RHO_US 200000
#define LOG_GROWTH LOG(0.08746284125) /* log2 of 1 + xi, xi = 0.25 x 0.2 / 0.8 */
#define LEFT SHARE(0.875)             /* beta */

enum { LOAD_LOW, LOAD_HIGH, LOAD_OVER };

static u64 header(struct end *end, u64 cwnd, u32 rtt_us) { return vcp_word(LOAD_LOW); }

static void arrive(struct end *end, u64 word)
{
	if (!end->waiting || load_of(word) > load_of(end->waiting))
		end->waiting = word;
}

static u64 echo(struct end *end) { return vcp_word(load_of(end->waiting)) | ECHO; }

static void returned(struct end *end, u64 word)
{
	end->load = load_of(word);
	end->waiting = word;
}

static void follow(struct end *end, struct window *w, const struct moment *moment)
{
	u64 scale = ((u64)moment->srtt_us << 16) / T_RHO_US; /* rtt / t_rho */

	if (end->waiting && end->load == LOAD_OVER && moment->now_us >= end->grows_us) {
		w->cwnd = greatest(part(w->cwnd, LEFT), WHOLE(1));
		end->frozen_us = moment->now_us + T_RHO_US;
		end->grows_us = end->frozen_us + moment->srtt_us;
	}
	end->waiting = 0;
	if (!moment->limited)
		return;
	if (end->load == LOAD_LOW)
		w->cwnd += moment->acked * ((exp2_of(least(LOG_GROWTH * scale >> 16, LOG(31))) << 16) - SEGMENTS(1));
	else if (end->load == LOAD_HIGH || moment->now_us >= end->frozen_us)
		w->cwnd += step(w, least(scale * scale >> 16, GREATEST_GAIN), moment->acked);
}

EXPLICIT_ALGORITHM("lf_vcp")
