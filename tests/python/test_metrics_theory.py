import pytest

from longfat import theory


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
