// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Powers of windows in fixed point, without branches that the verifier would have to follow: log2 by repeated
 * squaring (each squaring of the mantissa gives one digit), 2^x by its series.
 */
#ifndef LF_LOGARITHM_H
#define LF_LOGARITHM_H

#include "lf.h"

#define LOG_PLACES 24
#define LOG(x) ((u64)((x) * 16777216.0)) /* constants only */

/* Returns log2 of a number of segments from 1 to 2^32 - 1, 24 binary places. */
static inline u64 log2_of(u64 segments)
{
	u64 whole = 0, digits = 0, mantissa = segments;

	for (int width = 16; width > 0; width /= 2) {
		u64 over = mantissa >> (whole + width) ? width : 0;
		whole += over;
	}
	mantissa = segments << (31 - whole);
	for (int i = 0; i < LOG_PLACES; i++) {
		mantissa = mantissa * mantissa >> 31;
		u64 digit = mantissa >> 32;
		mantissa >>= digit;
		digits = digits << 1 | digit;
	}
	return (whole << LOG_PLACES) + digits;
}

/* Returns 2^x, 16 binary places, for an x below 32 with 24. Coefficients are ln(2)^k / k! with 30 places. */
static inline u64 exp2_of(u64 x)
{
	u64 f = (x & (LOG(1) - 1)) << 6, sum = 16377;

	sum = (sum * f >> 30) + 165394;
	sum = (sum * f >> 30) + 1431680;
	sum = (sum * f >> 30) + 10327387;
	sum = (sum * f >> 30) + 59597083;
	sum = (sum * f >> 30) + 257941248;
	sum = (sum * f >> 30) + 744261118;
	sum = (sum * f >> 30) + 1073741824;
	return (sum << (x >> LOG_PLACES)) >> 14;
}

#endif
