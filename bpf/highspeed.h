// SPDX-License-Identifier: MIT OR Apache-2.0
/* HighSpeed TCP's response function (RFC 3649, section 5), for whole windows. */
#ifndef LF_HIGHSPEED_H
#define LF_HIGHSPEED_H

#include "logarithm.h"

#define HS_LOW_WINDOW 38
#define HS_END 100000                 /* beyond this window b(w) is constant */
#define HS_LOG_LOW LOG(5.247927513)   /* log2 of the low window */
#define HS_SLOPE SHARE(0.0360591132)  /* (0.5 - 0.1) / log2(83000 / 38) */
/* w^2 p(w) = 2^-HS_LOG_FACTOR w^HS_POWER, for p(w) of 1e-3 at 38 and 1e-7 at 83000 */
#define HS_POWER SHARE(0.8021421875)
#define HS_LOG_FACTOR LOG(3.679513313)

/* b(w): the share of the window that a loss takes away. */
static inline u64 hs_decrease(u64 window)
{
	if (window <= HS_LOW_WINDOW)
		return SHARE(0.5);
	u64 rise = log2_of(least(window, HS_END)) - HS_LOG_LOW;
	return SHARE(0.5) - (rise * HS_SLOPE >> LOG_PLACES);
}

/* a(w): segments per round trip, 16 binary places. */
static inline u64 hs_increase(u64 window)
{
	if (window <= HS_LOW_WINDOW)
		return SHARE(1);
	u64 b = hs_decrease(window);
	u64 square_p = exp2_of((log2_of(window) * HS_POWER >> 16) - HS_LOG_FACTOR);
	return greatest(square_p * 2 * b / (SHARE(2) - b), SHARE(1));
}

/* a(w) for the current window. It depends on whole segments only, so that logarithms are rare. */
struct hs_band {
	u32 window;
	u32 increase;
};

static inline u64 hs_step(struct hs_band *band, const struct window *w, u32 acked)
{
	u32 window = w->cwnd >> 32;

	if (w->cwnd <= WHOLE(HS_LOW_WINDOW))
		return standard_step(w, acked);
	if (band->window != window) {
		band->window = window;
		band->increase = hs_increase(window);
	}
	return step(w, band->increase, acked);
}

#endif
