// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What the algorithms share: their vocabulary (that of the trait CongestionControl in crates/transport),
 * windows in fixed point, and round trips. An algorithm includes only this file, so that the same source runs
 * in the kernel (kernel.h) and, with LF_HOST, as a program that a test compares with the Rust form (host.h).
 *
 * Windows are in segments with 32 binary places; shares and gains have 16; round-trip times are in
 * microseconds. The arithmetic holds for windows below 2^24 segments and times below 2^24 us.
 */
#ifndef LF_H
#define LF_H

#ifdef LF_HOST
#include <stdbool.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t u64;
#else
#include "kernel_types.h"
#endif

/* Before a loop whose index has to be constant: the kernel permits no other one in a connection's memory. */
#ifdef LF_HOST
#define UNROLLED
#else
#define UNROLLED _Pragma("unroll")
#endif

#define SEGMENTS(x) ((u64)((x) * 4294967296.0)) /* constants only: the kernel has no floating point */
#define SHARE(x) ((u64)((x) * 65536.0))
#define WHOLE(segments) ((u64)(segments) << 32)

#define LEAST_SSTHRESH SEGMENTS(2)  /* RFC 5681, equation 4 */
#define GREATEST_GAIN SHARE(32767)  /* the greatest that step() uses */

/* What one acknowledgement told the sender. */
struct ack {
	u64 now_us;
	u32 acked;         /* how many segments it acknowledges, for the growth of the window */
	u32 rtt_us;        /* 0: none measured */
	u32 base_rtt_us;   /* the least measured so far, 0: none */
	u32 srtt_us;
	u32 delivered;     /* segments known to have arrived so far; wraps */
	u32 marked;        /* how many of those were marked; wraps */
	u32 next;          /* sequence numbers in bytes: the next to be sent, and the first unacknowledged one */
	u32 unacknowledged;
	u32 segment_bytes;
};

/* What one acknowledgement told an algorithm that models the path. */
struct delivery {
	u64 now_us;
	u32 newly;           /* segments that it is the first to report as received */
	u32 lost;            /* segments that it showed to be lost */
	u32 rtt_us;          /* of the newest segment that it covers; 0: none measured */
	u32 srtt_us;
	u32 delivered;       /* segments known to have arrived so far; wraps */
	u32 prior_delivered; /* the same when the newest segment left */
	bool has_prior;      /* whether that is known */
	bool app_limited;    /* the application did not fill the window then */
};

/* In segments, 32 binary places. */
struct window {
	u64 cwnd;
	u64 ssthresh;
};

/* Each algorithm defines its own; it is all zeros when a connection begins. */
struct state;

/* An algorithm; the hooks that it leaves out do nothing. Before it includes this file, it defines
 *     ECHOES_MARKS  if its connections negotiate ECN, and its receivers tell of every mark (RFC 8257, 3.2);
 *     MODELS_PATH   if it moves the window in every phase;
 *     EXPLICIT_RATE if routers set its rate: then it has what kernel_explicit.h asks for, and no hooks.
 */
struct hooks {
	/* for any acknowledgement, in recovery too; before on_ack */
	void (*on_sample)(struct state *, const struct ack *);
	/* for new data outside recovery, while the window limits the sender: grow, or shrink */
	void (*on_ack)(struct state *, const struct ack *, struct window *);
	/* after losses, a mark or a timeout: set ssthresh. cwnd is still the one before */
	void (*on_congestion)(struct state *, const struct ack *, struct window *);
	/* after on_congestion, if segments were lost, and for a loss while a mark's reduction is under way */
	void (*on_loss)(struct state *, const struct ack *, struct window *);
	/* after on_congestion, if it was a timeout */
	void (*on_timeout)(struct state *, const struct ack *, struct window *);
	/* recovery has ended; the sender continues with this cwnd */
	void (*on_recovered)(struct state *, const struct ack *, struct window *);
	/* the last congestion event was spurious, and the window is what it was before */
	void (*on_undo)(struct state *, const struct window *);
	/* the host's pacing, at cwnd / srtt, determines the rate, not the arrival of acknowledgements */
	bool paced;

	/* An algorithm with MODELS_PATH moves the window in every phase. It has on_timeout, which comes after the
	 * sender has set cwnd to what is in flight and one segment more, and the following hooks, and no others. */
	/* the connection is open */
	void (*on_open)(struct state *, u64 now_us);
	/* an acknowledgement arrived */
	void (*on_delivery)(struct state *, const struct delivery *, struct window *);
	/* returns the time in which the host paces out a cwnd; 0: not known */
	u32 (*pacing_us)(const struct state *, u32 srtt_us);
};

static inline u64 least(u64 a, u64 b) { return a < b ? a : b; }
static inline u64 greatest(u64 a, u64 b) { return a > b ? a : b; }
static inline u64 beyond(u64 a, u64 b) { return a > b ? a - b : 0; }

/* Returns a share of a window. */
static inline u64 part(u64 window, u64 share) { return (window >> 16) * share; }

/* Returns the part a_us / b_us of a window. */
static inline u64 in_ratio(u64 window, u64 a_us, u64 b_us)
{
	return b_us ? ((window >> 16) * a_us / b_us) << 16 : 0;
}

/* Returns how much of a window is queued when the round-trip time is rtt_us. */
static inline u64 queued(u64 window, u64 base_us, u64 rtt_us)
{
	return in_ratio(window, beyond(rtt_us, base_us), rtt_us);
}

static inline bool in_slow_start(const struct window *w) { return w->cwnd < w->ssthresh; }

/* RFC 5681; stops at ssthresh. */
static inline void slow_start(struct window *w, u32 acked)
{
	w->cwnd = least(w->cwnd + WHOLE(acked), w->ssthresh);
}

/* Returns the growth for `acked` segments that makes `gain` segments per round trip. */
static inline u64 step(const struct window *w, u64 gain, u32 acked)
{
	return acked * ((least(gain, GREATEST_GAIN) << 32) / ((w->cwnd >> 16) | 1));
}

/* RFC 5681, equation 3. */
static inline u64 standard_step(const struct window *w, u32 acked) { return step(w, SHARE(1), acked); }

/* Keeps a window that has shrunk from entering slow-start again. */
static inline void lower_ssthresh(struct window *w) { w->ssthresh = least(w->ssthresh, w->cwnd); }

/* Counts round trips by sequence numbers: one has passed when the first byte sent after its beginning is
 * acknowledged. */
struct round {
	u64 began_us; /* 0: no round trip has begun */
	u32 mark;
	u32 delivered;
};

struct trip {
	u64 duration_us; /* 0: none has passed */
	u32 delivered;   /* segments that arrived meanwhile */
	u32 sent_bytes;  /* new data sent meanwhile */
};

static inline struct trip passed(struct round *round, const struct ack *ack)
{
	struct trip trip = {};

	if (round->began_us) {
		if ((s32)(ack->unacknowledged - round->mark) <= 0 || ack->now_us <= round->began_us)
			return trip;
		trip.duration_us = ack->now_us - round->began_us;
		trip.delivered = ack->delivered - round->delivered;
		trip.sent_bytes = ack->next - round->mark;
	}
	round->began_us = ack->now_us;
	round->mark = ack->next;
	round->delivered = ack->delivered;
	return trip;
}

static inline void restart(struct round *round) { round->began_us = 0; }

/* Returns segments per second, 10 binary places. */
static inline u64 throughput(struct trip trip)
{
	return ((u64)trip.delivered * 1000000 << 10) / trip.duration_us;
}

#ifdef LF_HOST
#include "host.h"
#elif defined(MODELS_PATH)
#include "kernel_model.h"
#elif defined(EXPLICIT_RATE)
#include "kernel_explicit.h"
#else
#include "kernel.h"
#endif

#endif
