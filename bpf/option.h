// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The TCP option that carries explicit congestion headers. crates/wire/src/tcp_option.rs is the routers' side,
 * and describes its fields.
 */
#ifndef LF_OPTION_H
#define LF_OPTION_H

#define OPTION_KIND 254
#define OPTION_BYTES 12
#define OPTION_IDENTIFIER_BYTES 4 /* kind, length and identifier: what the kernel searches for */
#define OPTION_HIGH 0x4c
#define OPTION_LOW 0x46

#define PROTOCOL(n) ((u64)(n) << 61)
#define PROTOCOL_OF(word) ((word) >> 61)
#define ECHO ((u64)1 << 60)
#define RESET ((u64)1 << 59)
#define TURN(n) ((u64)((n) & 7) << 56)
#define TURNS (7ULL << 56)
enum { PROTOCOL_XCP = 1, PROTOCOL_VCP = 2, PROTOCOL_JETMAX = 3 };

/* Feedback, and windows that are echoed, are in 1/256 byte. */
#define PARTS_PLACES 8
#define UNTOUCHED ((1U << 23) - 1)
#define UNTOUCHED_ECHO ((1LL << 39) - 1)
#define GREATEST_ECHO (UNTOUCHED_ECHO - 1)

/* Returns the code of the nearest m 2^e with 11 bits of m. */
static inline u16 compress(u64 value)
{
	u32 e = 0;
	u64 rest = value >> 11;

	if (rest >> 16) {
		e += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		e += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		e += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		e += 2;
		rest >>= 2;
	}
	if (rest >> 1) {
		e += 1;
		rest >>= 1;
	}
	e += rest;
	if (!e)
		return value;
	value = (value + (1ULL << (e - 1))) >> e;
	if (value >> 11) {
		value >>= 1;
		e++;
	}
	return e > 31 ? 0xffff : e << 11 | value;
}

static inline u64 expand(u16 code) { return (u64)(code & 0x7ff) << (code >> 11); }

static inline u16 cwnd_code_of(u64 word) { return word >> 40; }

/* Returns the feedback in the word of a data packet, in parts of a byte. */
static inline s64 feedback_of(u64 word)
{
	s64 parts = (u64)(word & 0x3ffff) << (word >> 18 & 31);

	return word >> 23 & 1 ? -parts : parts;
}

/* Whether no router has changed the feedback of a data packet. */
static inline bool is_untouched(u64 word) { return (word & 0xffffff) == UNTOUCHED; }

/* Returns the number in the word of an acknowledgement, in parts of a byte. */
static inline s64 echo_of(u64 word) { return (s64)(word << 24) >> 24; }

static inline u64 echoed(s64 parts)
{
	if (parts > GREATEST_ECHO)
		parts = GREATEST_ECHO;
	if (parts < -GREATEST_ECHO)
		parts = -GREATEST_ECHO;
	return (u64)parts & ((1ULL << 40) - 1);
}

/* Returns the words of XCP: of a data packet with no feedback yet, and of an acknowledgement. */
static inline u64 xcp_word(u64 cwnd_bytes, u32 rtt_us, u32 feedback)
{
	return PROTOCOL(PROTOCOL_XCP) | (u64)compress(cwnd_bytes) << 40 | (u64)compress(rtt_us) << 24 | feedback;
}

static inline u64 xcp_echo(u16 cwnd_code, u64 number)
{
	return PROTOCOL(PROTOCOL_XCP) | ECHO | (u64)cwnd_code << 40 | number;
}

static inline u64 vcp_word(u32 load) { return PROTOCOL(PROTOCOL_VCP) | load; }

static inline u32 load_of(u64 word) { return word & 3; }

/* JetMax: the numbers of routers, the overload in 1/4096, the rate in kbit/s, the gap in 10 ns. */
#define JETMAX_SUGGESTED(word) ((word) >> 44 & 15)
#define JETMAX_HOPS(word) ((word) >> 48 & 15)
#define JETMAX_BOTTLENECK(word) ((word) >> 52 & 15)
#define JETMAX_LOSS(word) ((word) >> 32 & 0xfff)
#define JETMAX_RATE_CODE(word) ((u16)((word) >> 16))
#define JETMAX_GAP_CODE(word) ((u16)(word))
#define NO_RATE 0xffff /* no router has set one */

static inline u64 jetmax_word(u64 router, u64 loss, u16 rate_code, u16 gap_code)
{
	return PROTOCOL(PROTOCOL_JETMAX) | router << 52 | router << 44 | loss << 32 | (u64)rate_code << 16 | gap_code;
}

#endif
