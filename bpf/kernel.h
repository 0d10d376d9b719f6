// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Translates the kernel's events into those that the algorithms know. docs/live-algorithms.md describes what
 * Linux does and where it differs from the simulator's sender.
 */
#ifndef LF_KERNEL_H
#define LF_KERNEL_H

#include "kernel_window.h"

static inline struct state *state_of(struct tcp_sock *tp) { return (struct state *)(shared_of(tp) + 1); }

static inline struct ack ack_of(struct tcp_sock *tp, u32 acked)
{
	struct ack ack = {
		.now_us = tp->tcp_mstamp,
		.acked = acked,
		.rtt_us = shared_of(tp)->rtt_us,
		.base_rtt_us = shared_of(tp)->base_rtt_us,
		.srtt_us = tp->srtt_us >> 3,
		.delivered = tp->delivered,
		.marked = tp->delivered_ce,
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
	clear(tp);
	if (hooks.paced)
		pace(tp);
#ifdef ECHOES_MARKS
	/* without ECN there is nothing to tell; only the switch to another algorithm clears ECT from the packets */
	if (!(tp->ecn_flags & TCP_ECN_OK)) {
		char reno[] = "reno";
		bpf_setsockopt(tp, SOL_TCP, TCP_CONGESTION, reno, sizeof(reno));
		return;
	}
	shared_of(tp)->rcv_nxt = tp->rcv_nxt;
#endif
}

SEC("struct_ops")
void BPF_PROG(pkts_acked, struct tcp_sock *tp, const struct ack_sample *sample)
{
	keep_rtt(tp, sample);
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

#ifdef ECHOES_MARKS
/* The next acknowledgement says this. */
static inline void echo(struct tcp_sock *tp, bool marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* A data packet has arrived. A change is acknowledged at once; an acknowledgement that was delayed goes
 * first, and tells of the packets before. */
static inline void receive(struct tcp_sock *tp, bool marked)
{
	struct shared *shared = shared_of(tp);

	if (shared->was_marked != marked) {
		if (tp->inet_conn.icsk_ack.pending & ICSK_ACK_TIMER) {
			echo(tp, shared->was_marked);
			bpf_tcp_send_ack(tp, shared->rcv_nxt);
		}
		tp->inet_conn.icsk_ack.pending |= ICSK_ACK_NOW;
	}
	shared->rcv_nxt = tp->rcv_nxt;
	shared->was_marked = marked;
	echo(tp, marked);
}
#endif

SEC("struct_ops")
void BPF_PROG(cwnd_event, struct tcp_sock *tp, enum tcp_ca_event event)
{
#ifdef ECHOES_MARKS
	if (event == CA_EVENT_ECN_IS_CE || event == CA_EVENT_ECN_NO_CE)
		receive(tp, event == CA_EVENT_ECN_IS_CE);
#endif
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
	u8 from = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	if (to == TCP_CA_Open && from == TCP_CA_Loss)
		tell_recovered(tp);
	if (to == TCP_CA_Recovery && from != TCP_CA_Recovery && hooks.on_loss) {
		struct ack ack = ack_of(tp, 0);
		struct window w = window_of(tp);
		hooks.on_loss(state_of(tp), &ack, &w);
		shared_of(tp)->fraction = (u32)w.ssthresh;
		set_ssthresh(tp, &w);
	}
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

#ifdef ECHOES_MARKS
#define FLAGS TCP_CONG_NEEDS_ECN
#else
#define FLAGS 0
#endif

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
		.flags = FLAGS,                                                                                \
	};                                                                                                     \
	char _license[] SEC("license") = "Dual MIT/GPL";

#endif
