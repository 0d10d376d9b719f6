import pytest

from longfat.runs import theory


@pytest.mark.parametrize(
    ("loss", "window"),
    [(1e-3, 38), (1e-4, 263), (1e-5, 1795), (1e-6, 12279), (1e-7, 83981)],
)
def test_hstcp_response_agrees_with_the_table_of_rfc_3649(loss, window):
    # the RFC's table is of the rounded form .12 / p^.835
    assert theory.hstcp_window(loss) == pytest.approx(window, rel=0.025)


def test_hstcp_exponent_is_the_rfc_s():
    assert theory.hstcp_exponent() == pytest.approx(-0.835, abs=0.0005)


def test_hstcp_passes_through_the_two_points_that_define_it():
    assert theory.hstcp_window(1e-7) == pytest.approx(83000)
    assert theory.hstcp_window(1e-3) == pytest.approx(38)


def test_hstcp_is_standard_tcp_at_high_loss():
    assert theory.hstcp_window(1e-2) == pytest.approx(12, abs=0.5)  # RFC 3649: 12
    assert theory.hstcp_window(1e-2) == theory.standard_window(1e-2)


def test_standard_tcp_needs_a_loss_of_2e_10_for_ten_gigabit():
    # LOP 2.4.1 and RFC 3649: 83333 packets at 10 Gbit/s and 100 ms; the RFC's constant is 1.2, ours 1.22
    assert theory.standard_window(2e-10) == pytest.approx(83333, rel=0.05)
    assert theory.throughput_bps(83333, 0.1) == pytest.approx(10e9, rel=1e-4)


def test_delayed_ack_without_byte_counting_costs_a_factor_root_two():
    assert theory.standard_window(1e-4) / theory.standard_window(1e-4, byte_counting=False) == pytest.approx(
        1.41421, rel=1e-5
    )


@pytest.mark.parametrize(("loss", "window"), [(1e-4, 800), (1e-5, 8000), (1e-6, 80000)])
def test_scalable_tcp_follows_008_over_p(loss, window):
    assert theory.stcp_window(loss) == pytest.approx(window)


def test_scalable_tcp_is_standard_tcp_below_its_low_window():
    assert theory.stcp_window(1e-2) == theory.standard_window(1e-2)


def test_an_aimd_flow_without_a_queue_uses_three_quarters_and_with_one_bdp_all():
    assert theory.sawtooth_utilization(0.0) == pytest.approx(0.75)
    assert theory.sawtooth_utilization(1.0) == pytest.approx(1.0)
    assert theory.sawtooth_utilization(2.0) == 1.0


def test_utilisation_grows_with_the_queue():
    shares = [theory.sawtooth_utilization(0.05 * step) for step in range(21)]
    assert shares == sorted(shares)


def test_a_gentler_backoff_uses_more():
    assert theory.sawtooth_utilization(0.0, backoff=0.875) == pytest.approx(0.9375)


def test_rtt_unfairness_of_synchronised_aimd_is_the_square_of_the_ratio():
    # LLS V-B; LOP 2.4: 1 / (1 - .82) = 5.55 for HighSpeed TCP
    assert theory.rtt_unfairness(0.16, 0.016) == pytest.approx(0.01)
    assert theory.rtt_unfairness(0.2, 0.1, 1 / (1 - 0.82)) == pytest.approx(2**-5.5556, rel=1e-3)


def test_standard_tcp_gains_the_thesis_s_0_83_megabit_a_second_at_100_ms():
    # LOP 3.1.3.1, Fig. 3.3: "a throughput increase slope of about 0.83 Mbps", 1024 bytes, RTT 100 ms
    slope = theory.growing_rate_bps(11.0, 0.1) - theory.growing_rate_bps(10.0, 0.1)
    assert slope == pytest.approx(0.83e6, rel=0.02)
    # (3.1): 12207 packets of 1024 bytes in 100 ms are 1 Gbit/s
    assert theory.growing_rate_bps(0.0, 0.1, 12207.0) == pytest.approx(1e9, rel=1e-3)


def test_the_thesis_s_sine_is_a_gigabit_at_0_s_and_300_megabit_at_16_s():
    found = [theory.sine_capacity_bps(t, 1e9, 3e8, 32.0) for t in (0.0, 8.0, 16.0, 32.0)]
    assert found == pytest.approx([1e9, 6.5e8, 3e8, 1e9])


def test_the_model_of_tcp_wastes_a_quarter_of_a_constant_link():
    # without a queue a sawtooth between half and all of the link uses 3/4 (Appenzeller et al. 2004)
    times = [0.01 * i for i in range(40001)]
    rates = theory.sawtooth_under_bps(lambda _: 1e7, times, 0.1, 0.5e7)
    assert max(rates) <= 1e7
    assert min(rates) == pytest.approx(0.5e7, rel=1e-3)
    assert sum(rates) / len(rates) == pytest.approx(0.75e7, rel=0.01)


def test_the_model_of_tcp_cannot_follow_the_thesis_s_sine():
    # LOP Fig. 3.3: halved on the way down, then 0.82 Mbit/s a second against up to 34 of the capacity
    def capacity(time_s):
        return theory.sine_capacity_bps(time_s, 1e9, 3e8, 32.0)

    times = [0.01 * i for i in range(4801)]
    rates = theory.sawtooth_under_bps(capacity, times, 0.1, 1e9)
    assert all(rate <= capacity(time) for time, rate in zip(times, rates, strict=True))
    # the descent ends with its last halving; from the low point on the line gains 16 s of slope
    low = rates[1600]
    assert rates[3200] - low == pytest.approx(16 * 0.8192e6, rel=1e-3)
