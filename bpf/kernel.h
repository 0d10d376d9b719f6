// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Translates the kernel's events into those that the algorithms know. docs/live-algorithms.md describes what
 * Linux does and where it differs from the simulator's sender.
 */
#ifndef LF_KERNEL_H
#define LF_KERNEL_H

/* Shares a connection's memory for its algorithm with the algorithm's own state. */
struct shared {
	u32 fraction; /* of cwnd, which the kernel keeps in whole segments; 32 binary places */
	u32 rtt_us;   /* from the acknowledgement that is being handled; 0: none */
	u32 base_rtt_us;
	u32 unused;
};

static const struct hooks hooks;

static inline struct shared *shared_of(struct tcp_sock *tp)
{
	return (struct shared *)tp->inet_conn.icsk_ca_priv;
}

static inline struct state *state_of(struct tcp_sock *tp) { return (struct state *)(shared_of(tp) + 1); }

static inline struct window window_of(struct tcp_sock *tp)
{
	struct window w = {
		.cwnd = WHOLE(tp->snd_cwnd) | shared_of(tp)->fraction,
		.ssthresh = WHOLE(tp->snd_ssthresh),
	};
	return w;
}

static inline void set_ssthresh(struct tcp_sock *tp, const struct window *w)
{
	tp->snd_ssthresh = greatest(w->ssthresh, LEAST_SSTHRESH) >> 32;
}

static inline void set_window(struct tcp_sock *tp, const struct window *w)
{
	u32 whole = greatest(w->cwnd >> 32, 1);

	if (whole < tp->snd_cwnd_clamp) {
		tp->snd_cwnd = whole;
		shared_of(tp)->fraction = (u32)w->cwnd;
	} else {
		tp->snd_cwnd = tp->snd_cwnd_clamp;
		shared_of(tp)->fraction = 0;
	}
	if (w->ssthresh >> 32 != tp->snd_ssthresh)
		set_ssthresh(tp, w);
}

static inline struct ack ack_of(struct tcp_sock *tp, u32 acked)
{
	struct ack ack = {
		.now_us = tp->tcp_mstamp,
		.acked = acked,
		.rtt_us = shared_of(tp)->rtt_us,
		.base_rtt_us = shared_of(tp)->base_rtt_us,
		.srtt_us = tp->srtt_us >> 3,
		.delivered = tp->delivered,
		.next = tp->snd_nxt,
		.unacknowledged = tp->snd_una,
		.segment_bytes = tp->mss_cache,
	};
	return ack;
}

/* Whether the window, and not the application, limits the sender; in slow-start half a window
 * in flight is enough. */
static inline bool window_limits(struct tcp_sock *tp)
{
	if (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out)
		return true;
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

SEC("struct_ops")
void BPF_PROG(init, struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	/* the acknowledgement of the SYN has stored its round-trip time here, which is that of a short packet */
	for (int i = 0; i < PRIVATE_WORDS; i++)
		tp->inet_conn.icsk_ca_priv[i] = 0;
	if (hooks.paced && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(pkts_acked, struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct shared *shared = shared_of(tp);
	u32 rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;

	shared->rtt_us = rtt_us;
	if (rtt_us && (!shared->base_rtt_us || rtt_us < shared->base_rtt_us))
		shared->base_rtt_us = rtt_us;
	if (hooks.on_sample) {
		struct ack ack = ack_of(tp, 0);
		hooks.on_sample(state_of(tp), &ack);
	}
}

SEC("struct_ops")
void BPF_PROG(cong_avoid, struct tcp_sock *tp, u32 unused, u32 acked)
{
	if (!acked || !window_limits(tp))
		return;
	struct ack ack = ack_of(tp, acked);
	struct window w = window_of(tp);

	hooks.on_ack(state_of(tp), &ack, &w);
	set_window(tp, &w);
}

SEC("struct_ops")
u32 BPF_PROG(ssthresh, struct tcp_sock *tp)
{
	struct ack ack = ack_of(tp, 0);
	struct window w = window_of(tp);

	hooks.on_congestion(state_of(tp), &ack, &w);
	/* cwnd does not grow until recovery has brought it to ssthresh; it then has the fraction of ssthresh */
	shared_of(tp)->fraction = (u32)w.ssthresh;
	return greatest(w.ssthresh, LEAST_SSTHRESH) >> 32;
}

static inline void tell_recovered(struct tcp_sock *tp)
{
	if (hooks.on_recovered) {
		struct ack ack = ack_of(tp, 0);
		struct window w = window_of(tp);
		hooks.on_recovered(state_of(tp), &ack, &w);
		set_window(tp, &w);
	}
}

SEC("struct_ops")
void BPF_PROG(cwnd_event, struct tcp_sock *tp, enum tcp_ca_event event)
{
	if (event == CA_EVENT_COMPLETE_CWR)
		tell_recovered(tp);
	if (event == CA_EVENT_LOSS && hooks.on_timeout) {
		struct ack ack = ack_of(tp, 0);
		struct window w = window_of(tp);
		u64 ssthresh = w.ssthresh;
		hooks.on_timeout(state_of(tp), &ack, &w);
		if (w.ssthresh != ssthresh)
			set_ssthresh(tp, &w);
	}
}

SEC("struct_ops")
void BPF_PROG(set_state, struct tcp_sock *tp, u8 to)
{
	if (to == TCP_CA_Open && BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state) == TCP_CA_Loss)
		tell_recovered(tp);
}

SEC("struct_ops")
u32 BPF_PROG(undo_cwnd, struct tcp_sock *tp)
{
	u32 whole = greatest(tp->snd_cwnd, tp->prior_cwnd);

	if (hooks.on_undo) {
		struct window w = {
			.cwnd = WHOLE(whole),
			.ssthresh = WHOLE(greatest(tp->snd_ssthresh, tp->prior_ssthresh)),
		};
		hooks.on_undo(state_of(tp), &w);
	}
	return whole;
}

#define ALGORITHM(NAME, ...) \
	static const struct hooks hooks = {__VA_ARGS__};                                                       \
	_Static_assert(sizeof(struct shared) + sizeof(struct state) <= 8 * PRIVATE_WORDS, "too large");     \
	SEC(".struct_ops.link")                                                                                \
	struct tcp_congestion_ops algorithm = {                                                                \
		.init = (void *)init,                                                                          \
		.ssthresh = (void *)ssthresh,                                                                  \
		.cong_avoid = (void *)cong_avoid,                                                              \
		.set_state = (void *)set_state,                                                                \
		.cwnd_event = (void *)cwnd_event,                                                              \
		.pkts_acked = (void *)pkts_acked,                                                              \
		.undo_cwnd = (void *)undo_cwnd,                                                                \
		.name = NAME,                                                                                  \
	};                                                                                                     \
	char _license[] SEC("license") = "Dual MIT/GPL";

#endif
