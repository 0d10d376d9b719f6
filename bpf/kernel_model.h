// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The kernel's calls of an algorithm that models the path and moves the window in every phase:
 * cong_control takes the place of cong_avoid and of the kernel's reductions, and sets the pacing rate.
 * Its state is stored with the socket, because a connection's private memory is small. From Linux 6.10
 * on: before, cong_control had other arguments.
 */
#ifndef LF_KERNEL_MODEL_H
#define LF_KERNEL_MODEL_H

#include "kernel_window.h"

static struct state *state_of(struct tcp_sock *tp);
static struct state *new_state(struct tcp_sock *tp);

static inline void set_pacing_rate(struct tcp_sock *tp, const struct state *state, const struct window *w)
{
	u64 time_us = hooks.pacing_us(state, tp->srtt_us >> 3);

	/* segments with 16 binary places */
	if (time_us)
		tp->inet_conn.icsk_inet.sk.sk_pacing_rate =
			(w->cwnd >> 16) * tp->mss_cache / time_us * 1000000 >> 16;
}

SEC("struct_ops")
void BPF_PROG(init, struct tcp_sock *tp)
{
	struct state *state = new_state(tp);
	struct window w;

	clear(tp);
	if (!state)
		return;
	w = window_of(tp);
	hooks.on_open(state, tp->tcp_mstamp);
	set_pacing_rate(tp, state, &w);
	pace(tp);
}

SEC("struct_ops")
void BPF_PROG(pkts_acked, struct tcp_sock *tp, const struct ack_sample *sample) { keep_rtt(tp, sample); }

SEC("struct_ops")
void BPF_PROG(cong_control, struct tcp_sock *tp, u32 unused, int flag, const struct rate_sample *sample)
{
	struct state *state = state_of(tp);
	struct window w = window_of(tp);
	struct delivery delivery = {
		.now_us = tp->tcp_mstamp,
		.newly = sample->acked_sacked,
		.lost = sample->losses,
		.rtt_us = shared_of(tp)->rtt_us,
		.srtt_us = tp->srtt_us >> 3,
		.delivered = tp->delivered,
		.prior_delivered = sample->prior_delivered,
		.has_prior = sample->prior_mstamp,
		.app_limited = sample->is_app_limited,
	};

	shared_of(tp)->rtt_us = 0;
	if (!state)
		return;
	hooks.on_delivery(state, &delivery, &w);
	set_window(tp, &w);
	set_pacing_rate(tp, state, &w);
}

SEC("struct_ops")
u32 BPF_PROG(ssthresh, struct tcp_sock *tp) { return tp->snd_ssthresh; }

SEC("struct_ops")
u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp) { return tp->snd_cwnd; }

SEC("struct_ops")
void BPF_PROG(cwnd_event, struct tcp_sock *tp, enum tcp_ca_event event)
{
	struct state *state = event == CA_EVENT_LOSS ? state_of(tp) : 0;
	struct window w = window_of(tp);
	struct ack ack = {.now_us = tp->tcp_mstamp};

	if (!state || !hooks.on_timeout)
		return;
	hooks.on_timeout(state, &ack, &w);
	set_ssthresh(tp, &w);
}

#define ALGORITHM(NAME, ...) \
	static const struct hooks hooks = {__VA_ARGS__};                                                       \
	struct {                                                                                               \
		__uint(type, BPF_MAP_TYPE_SK_STORAGE);                                                         \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                                          \
		__type(key, int);                                                                              \
		__type(value, struct state);                                                                   \
	} states SEC(".maps");                                                                                 \
	static inline struct state *state_of(struct tcp_sock *tp)                                      \
	{                                                                                              \
		return bpf_sk_storage_get(&states, tp, 0, 0);                                          \
	}                                                                                              \
	static inline struct state *new_state(struct tcp_sock *tp)                                     \
	{                                                                                              \
		bpf_sk_storage_delete(&states, tp); /* of an earlier time with this algorithm */       \
		return bpf_sk_storage_get(&states, tp, 0, BPF_SK_STORAGE_GET_F_CREATE);                \
	}                                                                                              \
	SEC(".struct_ops.link")                                                                                \
	struct tcp_congestion_ops algorithm = {                                                                \
		.init = (void *)init,                                                                          \
		.ssthresh = (void *)ssthresh,                                                                  \
		.cwnd_event = (void *)cwnd_event,                                                              \
		.pkts_acked = (void *)pkts_acked,                                                              \
		.cong_control = (void *)cong_control,                                                          \
		.undo_cwnd = (void *)undo_cwnd,                                                                \
		.name = NAME,                                                                                  \
	};                                                                                                     \
	char _license[] SEC("license") = "Dual MIT/GPL";

#endif
