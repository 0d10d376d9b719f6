// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A connection's window and private memory in the kernel, for kernel.h and kernel_model.h.
 */
#ifndef LF_KERNEL_WINDOW_H
#define LF_KERNEL_WINDOW_H

/* Shares a connection's memory for its algorithm with the algorithm's own state. */
struct shared {
	u32 fraction; /* of cwnd, which the kernel keeps in whole segments; 32 binary places */
	u32 rtt_us;   /* from the acknowledgement that is being handled; 0: none */
	u32 base_rtt_us;
	u32 rcv_nxt;  /* after the last data packet, of a receiver that tells of every mark */
#ifdef ECHOES_MARKS
	u64 was_marked; /* whether that packet was marked */
#endif
};

#ifndef EXPLICIT_RATE
static const struct hooks hooks;
#endif

static inline struct shared *shared_of(struct tcp_sock *tp)
{
	return (struct shared *)tp->inet_conn.icsk_ca_priv;
}

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

/* Clears the private memory: the acknowledgement of the SYN has stored its round-trip time there, which
 * is that of a short packet. */
static inline void clear(struct tcp_sock *tp)
{
	UNROLLED
	for (int i = 0; i < PRIVATE_WORDS; i++)
		tp->inet_conn.icsk_ca_priv[i] = 0;
}

static inline void pace(struct tcp_sock *tp)
{
	struct sock *sk = &tp->inet_conn.icsk_inet.sk;

	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

/* Stores the round-trip time that the acknowledgement measured. */
static inline void keep_rtt(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct shared *shared = shared_of(tp);
	u32 rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;

	shared->rtt_us = rtt_us;
	if (rtt_us && (!shared->base_rtt_us || rtt_us < shared->base_rtt_us))
		shared->base_rtt_us = rtt_us;
}

#endif
