// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The kernel's types, with only the members that are used here. The loader finds each member by its name in
 * the BTF of the running kernel (CO-RE), so one object serves every kernel that has them.
 */
#ifndef LF_KERNEL_TYPES_H
#define LF_KERNEL_TYPES_H

typedef unsigned char u8, __u8;
typedef unsigned short u16, __u16, __be16;
typedef unsigned int u32, __u32, __be32, __wsum;
typedef int s32, __s32;
typedef unsigned long long u64, __u64;
typedef long long s64, __s64;
typedef _Bool bool;
#define true 1
#define false 0

enum bpf_map_type { BPF_MAP_TYPE_SK_STORAGE = 24 };
enum { BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define PRIVATE_WORDS 13 /* 8 bytes each: a connection's memory for its algorithm */
#define CO_RE __attribute__((preserve_access_index))

struct sock {
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate; /* bytes of payload per second */
} CO_RE;

struct inet_sock {
	struct sock sk;
} CO_RE;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
	struct {
		u8 pending; /* bits of ICSK_ACK_* */
	} icsk_ack;
	u64 icsk_ca_priv[PRIVATE_WORDS];
} CO_RE;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	u32 srtt_us; /* eighths */
	u32 delivered;
	u32 delivered_ce;
	u32 snd_nxt;
	u32 snd_una;
	u32 rcv_nxt;
	u8 ecn_flags;
	u32 max_packets_out;
	u64 tcp_mstamp; /* us */
	u8 is_cwnd_limited : 1;
} CO_RE;

struct ack_sample {
	s32 rtt_us;
} CO_RE;

struct rate_sample {
	u64 prior_mstamp;    /* 0: no segment was delivered */
	u32 prior_delivered; /* when the newest segment left */
	int losses;
	u32 acked_sacked;
	bool is_app_limited;
} CO_RE;

enum { TCP_CA_Open = 0, TCP_CA_Disorder = 1, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
enum tcp_ca_event {
	CA_EVENT_COMPLETE_CWR = 2,
	CA_EVENT_LOSS = 3,
	CA_EVENT_ECN_NO_CE = 4,
	CA_EVENT_ECN_IS_CE = 5,
};
enum { ICSK_ACK_TIMER = 2, ICSK_ACK_NOW = 16 };
enum { TCP_ECN_OK = 1, TCP_ECN_DEMAND_CWR = 4 };
enum { TCP_CONG_NEEDS_ECN = 2 };
enum { SOL_TCP = 6, TCP_CONGESTION = 13 };
enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };

struct tcp_congestion_ops {
	void (*init)(struct sock *);
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, enum tcp_ca_event);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	char name[16];
	u32 flags;
};

#endif
