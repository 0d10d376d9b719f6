// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The kernel's calls of an algorithm whose rate the routers on the path set. Beside the algorithm itself,
 * an object holds a sock_ops program: it writes the option with the explicit header into the packets of both
 * ends of a connection, and reads what arrives. Both programs share a record that is stored with the socket.
 * The loader attaches the program to a cgroup that only the sockets of such connections are in.
 *
 * The side that opens a connection sends; the other one echoes. An acknowledgement with two SACK blocks or more
 * has no room for the option, so what a receiver has to echo waits for the next one that has.
 */
#ifndef LF_KERNEL_EXPLICIT_H
#define LF_KERNEL_EXPLICIT_H

#include "kernel_window.h"
#include "option.h"

/* IP and TCP headers with timestamps, and the option. */
#define HEADER_BYTES (20 + 32 + OPTION_BYTES)

/* The context of a sock_ops program (uapi/linux/bpf.h). */
struct bpf_sock_ops {
	u32 op;
	u32 args[4];
	u32 addresses[13];
	u32 is_fullsock;
	u32 snd_cwnd;
	u32 srtt_us; /* eighths */
	u32 bpf_sock_ops_cb_flags;
	u32 state, rtt_min, snd_ssthresh, rcv_nxt, snd_nxt, snd_una;
	u32 mss_cache;
	u32 more[13];
	u64 bytes_received, bytes_acked;
	struct bpf_sock *sk;
	void *skb_data, *skb_data_end;
	u32 skb_len, skb_tcp_flags;
	u64 skb_hwtstamp;
};

enum {
	OP_ACTIVE_ESTABLISHED = 4,
	OP_PASSIVE_ESTABLISHED = 5,
	OP_PARSE_HDR_OPT = 13,
	OP_HDR_OPT_LEN = 14,
	OP_WRITE_HDR_OPT = 15,
};
enum { FLAG_PARSE_ALL = 1 << 4, FLAG_WRITE = 1 << 6 };
enum { FOR_MSS = 1 }; /* args[0]: no packet, the kernel only asks how much fits into one */

/* One end of a connection. */
struct end {
	u64 waiting;     /* the word that the algorithm has not dealt with yet: to be echoed, or to be applied */
	u64 rate;        /* JetMax: segments per second, 16 binary places; 0: no router has set it */
	u64 told;        /* JetMax: the last word that came back */
	u64 frozen_us;   /* VCP: reports change nothing until then, */
	u64 grows_us;    /* and the window grows as under high load until then */
	s64 sum;         /* the feedback in what waits, in parts of a byte */
	u64 window;      /* XCP-r: the window that both ends know; segments with 32 binary places, or parts */
	u64 reducing_to; /* XCP-r: where a reduction under way will end, in segments; 0: none is */
	u32 fraction;    /* of the sender's cwnd, 32 binary places */
	u32 packet_bytes;
	u16 announced;   /* XCP-r: the code of the window that the last flagged packet announced; 0: none */
	u8 sends;
	u8 turn;
	u8 guided;       /* a router has changed the last header that returned */
	u8 load;         /* VCP: the last that came back */
	u8 unlimited;    /* the window did not hold the sender back */
	u8 untouched;    /* no router has changed one of the headers that wait */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct end);
} ends SEC(".maps");

/* What a sender knows when an acknowledgement has arrived. */
struct moment {
	u64 now_us;
	u32 srtt_us;
	u32 acked;       /* segments, for the growth of a window that no router guides */
	bool limited;    /* the window, or the rate, held the sender; not the application */
	bool recovering;
};

/* An algorithm defines these. */
/* returns the word of a data packet that leaves now, with this cwnd */
static u64 header(struct end *end, u64 cwnd, u32 rtt_us);
/* a data packet has arrived with this word */
static void arrive(struct end *end, u64 word);
/* returns the word of an acknowledgement that leaves now, for what waits */
static u64 echo(struct end *end);
/* an acknowledgement has come back with this word */
static void returned(struct end *end, u64 word);
/* an acknowledgement has arrived: outside recovery, or in any phase if the algorithm SETS_RATE */
static void follow(struct end *end, struct window *w, const struct moment *moment);
#ifdef SETS_RATE
/* returns the rate at which packets leave, in segments per second with 16 binary places; 0: the kernel's */
static u64 rate(const struct end *end);
/* segments were lost, or a timeout expired */
static void reduce(struct end *end, bool timeout);
#endif

/* Returns a window in bytes of IP. */
static inline u64 bytes_of(const struct end *end, u64 cwnd) { return (cwnd >> 16) * end->packet_bytes >> 16; }

static inline u64 swapped(u64 word) { return __builtin_bswap64(word); }

static inline void established(struct bpf_sock_ops *skops, bool sends)
{
	struct end *end;

	if (!skops->sk)
		return;
	end = bpf_sk_storage_get(&ends, skops->sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!end)
		return;
	end->sends = sends;
	bpf_sock_ops_cb_flags_set(skops, skops->bpf_sock_ops_cb_flags | FLAG_PARSE_ALL | FLAG_WRITE);
}

static inline void parse(struct bpf_sock_ops *skops, struct end *end)
{
	u8 option[OPTION_BYTES] = {OPTION_KIND, OPTION_IDENTIFIER_BYTES, OPTION_HIGH, OPTION_LOW};
	u64 word;

	if (bpf_load_hdr_opt(skops, option, sizeof(option), 0) != OPTION_BYTES)
		return;
	__builtin_memcpy(&word, option + OPTION_IDENTIFIER_BYTES, sizeof(word));
	word = swapped(word);
	if (PROTOCOL_OF(word) != SPEAKS)
		return;
	if (end->sends && word & ECHO) {
		returned(end, word);
	} else if (!end->sends && !(word & ECHO)) {
		if (skops->skb_len + 20 > end->packet_bytes)
			end->packet_bytes = skops->skb_len + 20;
		arrive(end, word);
	}
}

static inline void write(struct bpf_sock_ops *skops, struct end *end)
{
	u8 option[OPTION_BYTES] = {OPTION_KIND, OPTION_BYTES, OPTION_HIGH, OPTION_LOW};
	u64 word;

	if (end->sends) {
		end->packet_bytes = skops->mss_cache + HEADER_BYTES;
		word = header(end, WHOLE(skops->snd_cwnd) | end->fraction, skops->srtt_us >> 3);
	} else {
		word = echo(end);
	}
	word = swapped(word | TURN(end->turn++));
	__builtin_memcpy(option + OPTION_IDENTIFIER_BYTES, &word, sizeof(word));
	if (bpf_store_hdr_opt(skops, option, sizeof(option), 0) == 0 && !end->sends) {
		end->waiting = 0;
		end->sum = 0;
		end->untouched = 0;
	}
}

SEC("sockops")
int options(struct bpf_sock_ops *skops)
{
	struct end *end;

	switch (skops->op) {
	case OP_ACTIVE_ESTABLISHED:
		established(skops, true);
		return 1;
	case OP_PASSIVE_ESTABLISHED:
		established(skops, false);
		return 1;
	case OP_PARSE_HDR_OPT:
	case OP_HDR_OPT_LEN:
	case OP_WRITE_HDR_OPT:
		break;
	default:
		return 1;
	}
	if (!skops->sk)
		return 1;
	end = bpf_sk_storage_get(&ends, skops->sk, 0, 0);
	if (!end)
		return 1;
	if (skops->op == OP_PARSE_HDR_OPT)
		parse(skops, end);
	else if (skops->op == OP_WRITE_HDR_OPT)
		write(skops, end);
	else if (end->sends || (end->waiting && skops->args[0] != FOR_MSS))
		bpf_reserve_hdr_opt(skops, OPTION_BYTES, 0);
	return 1;
}

static inline struct end *end_of(struct tcp_sock *tp) { return bpf_sk_storage_get(&ends, tp, 0, 0); }

static inline void follow_window(struct tcp_sock *tp, struct end *end, const struct moment *moment)
{
	struct window w = window_of(tp);

	follow(end, &w, moment);
	set_window(tp, &w);
	end->fraction = shared_of(tp)->fraction;
	end->unlimited = !moment->limited;
}

#ifdef SETS_RATE
SEC("struct_ops")
void BPF_PROG(init, struct tcp_sock *tp)
{
	clear(tp);
	pace(tp);
}

/* Takes the place of the kernel's growth and reductions, and of its pacing rate. From Linux 6.10 on. */
SEC("struct_ops")
void BPF_PROG(cong_control, struct tcp_sock *tp, u32 unused, int flag, const struct rate_sample *sample)
{
	struct end *end = end_of(tp);
	u8 phase = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);
	struct moment moment = {
		.now_us = tp->tcp_mstamp,
		.srtt_us = tp->srtt_us >> 3,
		.acked = sample->acked_sacked,
		.limited = !sample->is_app_limited,
		.recovering = phase != TCP_CA_Open && phase != TCP_CA_Disorder,
	};
	u64 segments;

	if (!end)
		return;
	follow_window(tp, end, &moment);
	segments = rate(end);
	if (!segments && moment.srtt_us)
		segments = (WHOLE(tp->snd_cwnd) >> 16) * 1000000 / moment.srtt_us;
	tp->inet_conn.icsk_inet.sk.sk_pacing_rate = segments * tp->mss_cache >> 16;
}
#else
SEC("struct_ops")
void BPF_PROG(init, struct tcp_sock *tp) { clear(tp); }

SEC("struct_ops")
void BPF_PROG(cong_avoid, struct tcp_sock *tp, u32 unused, u32 acked)
{
	struct end *end = end_of(tp);
	struct moment moment = {
		.now_us = tp->tcp_mstamp,
		.srtt_us = tp->srtt_us >> 3,
		.acked = acked,
		.limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited),
	};

	if (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out)
		moment.limited = true;
	if (end && acked)
		follow_window(tp, end, &moment);
}
#endif

/* A loss halves the window, as in standard TCP. */
SEC("struct_ops")
u32 BPF_PROG(ssthresh, struct tcp_sock *tp)
{
	struct end *end = end_of(tp);
	u32 half = greatest(tp->snd_cwnd / 2, LEAST_SSTHRESH >> 32);

	shared_of(tp)->fraction = 0;
	if (end) {
		end->fraction = 0;
		end->reducing_to = half;
	}
	return half;
}

SEC("struct_ops")
void BPF_PROG(set_state, struct tcp_sock *tp, u8 to)
{
	struct end *end = end_of(tp);

	/* after a timeout, the window starts again from one segment, and is not on its way to ssthresh */
	if (end && (to == TCP_CA_Open || to == TCP_CA_Loss))
		end->reducing_to = 0;
#ifdef SETS_RATE
	u8 from = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	if (end && to != from && (to == TCP_CA_Recovery || to == TCP_CA_Loss)) {
		reduce(end, to == TCP_CA_Loss);
		if (to == TCP_CA_Recovery)
			tp->snd_cwnd = least(tp->snd_cwnd, tp->snd_ssthresh);
	}
#endif
}

SEC("struct_ops")
u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return greatest(tp->snd_cwnd, tp->prior_cwnd); }

#ifdef SETS_RATE
#define GROWTH .cong_control = (void *)cong_control
#else
#define GROWTH .cong_avoid = (void *)cong_avoid
#endif

/* The window of a sender that has met no router grows as standard TCP's. */
static inline void grow(struct window *w, const struct moment *moment)
{
	if (!moment->limited || moment->recovering)
		return;
	if (in_slow_start(w))
		slow_start(w, moment->acked);
	else
		w->cwnd += standard_step(w, moment->acked);
}

#define EXPLICIT_ALGORITHM(NAME) \
	SEC(".struct_ops.link")                                                                                \
	struct tcp_congestion_ops algorithm = {                                                                \
		.init = (void *)init,                                                                          \
		.ssthresh = (void *)ssthresh,                                                                  \
		GROWTH,                                                                                        \
		.set_state = (void *)set_state,                                                                \
		.undo_cwnd = (void *)undo_cwnd,                                                                \
		.name = NAME,                                                                                  \
	};                                                                                                     \
	char _license[] SEC("license") = "Dual MIT/GPL";

#endif
