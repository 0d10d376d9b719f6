import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.runs import metrics, theory

RATES = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=20)


def steady(rate_bps, start_s, end_s, step_s=0.1):
    """Time and cumulative bytes of a flow that runs at a constant rate from its start on."""
    time = np.round(np.arange(0.0, end_s + step_s / 2, step_s), 6)
    return time, np.maximum(time - start_s, 0.0) * rate_bps / 8.0


def test_throughput_counts_the_bytes_of_its_window_only():
    time = [0.0, 1.0, 2.0, 3.0]
    delivered = [0.0, 1000.0, 5000.0, 5000.0]
    assert metrics.throughput_bps(time, delivered, (1.0, 3.0)) == 16_000.0
    assert metrics.throughput_bps(time, delivered, (1.5, 2.0)) == 32_000.0


def test_throughput_of_an_empty_window_is_not_a_number():
    assert math.isnan(metrics.throughput_bps([0.0, 1.0], [0.0, 8.0], (1.0, 1.0)))
    assert math.isnan(metrics.throughput_bps([], [], (0.0, 1.0)))


def test_short_term_average_fades_as_equation_2_of_lls():
    # RTT 10 ms: 100 RTT are 1 s, so lambda = 0.1 / 1; the average of a constant 1000 bit/s goes 100, 190, 271
    time, delivered = steady(1000.0, 0.0, 0.3)
    grid, average = metrics.short_term_throughput_bps(time, delivered, rtt_s=0.01)
    assert grid == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert average == pytest.approx([0.0, 100.0, 190.0, 271.0])


def test_a_path_without_any_delay_averages_nothing():
    time, delivered = steady(8e6, 1.0, 3.0, 0.1)
    _, average = metrics.short_term_throughput_bps(time, delivered, rtt_s=0.0)
    assert average[-1] == pytest.approx(8e6)


def test_short_term_average_does_not_depend_on_how_finely_the_counter_was_sampled():
    coarse = metrics.short_term_throughput_bps(*steady(8e6, 1.0, 20.0, 0.1), rtt_s=0.05)
    fine = metrics.short_term_throughput_bps(*steady(8e6, 1.0, 20.0, 0.02), rtt_s=0.05)
    assert fine[1] == pytest.approx(coarse[1])


def test_a_flow_at_its_final_rate_at_once_converges_when_the_average_has_filled():
    # 0.9^15 = .206 and 0.9^16 = .185: the 16th sample is the first at 80 %
    time, delivered = steady(1e6, 5.0, 100.0)
    assert metrics.convergence_time_s(time, delivered, 5.0, rtt_s=0.01) == pytest.approx(1.6)


def test_a_stricter_epsilon_takes_longer():
    # 0.9^21 = .109, 0.9^22 = .098
    time, delivered = steady(1e6, 5.0, 100.0)
    assert metrics.convergence_time_s(time, delivered, 5.0, 0.01, epsilon=0.9) == pytest.approx(2.2)


def test_a_flow_that_delivers_nothing_never_converges():
    time = np.arange(0.0, 10.0, 0.1)
    assert metrics.convergence_time_s(time, np.zeros_like(time), 1.0, 0.01) is None
    assert metrics.convergence_time_s(time, time, 20.0, 0.01) is None


def test_second_flow_converges_once_it_runs_at_80_percent_of_the_first():
    time, first = steady(1e6, 0.0, 100.0)
    _, second = steady(1e6, 50.0, 100.0)
    assert metrics.convergence_80_s(time, first, second, 50.0, 0.01) == pytest.approx(1.6)


def test_second_flow_at_half_the_rate_never_converges():
    time, first = steady(1e6, 0.0, 100.0)
    _, second = steady(0.5e6, 50.0, 100.0)
    assert metrics.convergence_80_s(time, first, second, 50.0, 0.01) is None


def test_two_flows_that_send_nothing_do_not_count_as_converged():
    time = np.arange(0.0, 10.0, 0.1)
    assert metrics.convergence_80_s(time, np.zeros_like(time), np.zeros_like(time), 1.0, 0.01) is None


@pytest.mark.parametrize(
    ("rates", "index"), [([1, 1, 1], 1.0), ([1, 0], 0.5), ([1, 0, 0, 0], 0.25), ([1, 2, 3], 36 / 42)]
)
def test_jain_index_of_hand_worked_shares(rates, index):
    assert metrics.jain(rates) == pytest.approx(index)


@given(RATES)
def test_jain_index_lies_between_one_over_n_and_one(rates):
    assert 1 / len(rates) - 1e-9 <= metrics.jain(rates) <= 1 + 1e-9


@given(RATES, st.floats(1e-3, 1e3))
def test_fairness_does_not_depend_on_the_unit_of_the_rates(rates, unit):
    scaled = [rate * unit for rate in rates]
    assert metrics.jain(scaled) == pytest.approx(metrics.jain(rates))
    assert metrics.throughput_ratio(scaled) == pytest.approx(metrics.throughput_ratio(rates))


def test_fairness_of_nobody_is_not_a_number():
    assert math.isnan(metrics.jain([0.0, 0.0]))
    assert math.isnan(metrics.throughput_ratio([]))


def test_throughput_ratio_of_the_paper_s_example():
    # LLS V-B: 245 and 5 Mbit/s are a ratio of 0.02
    assert metrics.throughput_ratio([245e6, 5e6]) == pytest.approx(0.02, abs=0.001)


def test_inefficiency_is_the_share_that_was_wasted():
    # LOP 3.1.3.2: an inefficiency of .40 means that 40 % of the resources were wasted
    assert metrics.inefficiency(1000.0, 600.0) == pytest.approx(0.40)
    assert metrics.utilization(1000.0, 600.0) == pytest.approx(0.60)


def test_inefficiency_of_a_window_is_the_area_between_capacity_and_rate():
    # LOP (3.5) to (3.7): a rate that climbs from 0 to a constant capacity wastes a triangle, half of it;
    # in the second half of the climb a quarter is wasted
    time = np.linspace(0.0, 10.0, 101)
    delivered = 0.5e6 * time**2 / 8.0
    capacity = np.full(101, 10e6)
    assert metrics.inefficiency_between(time, capacity, delivered, (0.0, 10.0)) == pytest.approx(0.5)
    assert metrics.inefficiency_between(time, capacity, delivered, (5.0, 10.0)) == pytest.approx(0.25)
    assert math.isnan(metrics.inefficiency_between(time, capacity, delivered, (5.0, 11.0)))


def test_inefficiency_under_the_sine_of_the_thesis_counts_what_was_available():
    # LOP (3.8) with 1 Gbit/s, 300 Mbit/s and 32 s: 650 Mbit/s on average, of which 300 use 46 %
    time = np.linspace(0.0, 64.0, 641)
    capacity = [theory.sine_capacity_bps(t, 1e9, 3e8, 32.0) for t in time]
    assert metrics.inefficiency_between(time, capacity, 3e8 * time / 8.0, (16.0, 48.0)) == pytest.approx(
        1.0 - 300.0 / 650.0, abs=1e-4
    )


def test_loss_ratio_without_packets_is_undefined():
    assert math.isnan(metrics.loss_ratio(0, 0))
    assert metrics.loss_ratio(1, 200) == 0.005


def test_variation_of_two_values():
    assert metrics.cov([1.0, 3.0]) == pytest.approx(0.5)
    assert metrics.mean_std([1.0, 3.0]) == (2.0, 1.0)
    assert math.isnan(metrics.cov([0.0, 0.0]))


@pytest.mark.parametrize("number", [7, 8, 9, 127, 128, 129, 136, 300, 5000])
def test_sums_and_interpolation_round_as_numpy_does_so_that_results_stay(number):
    random = np.random.default_rng(number)
    values = random.exponential(1e6, number)
    assert metrics.mean(values) == np.mean(values)
    assert metrics.cov(values) == np.std(values) / np.mean(values)
    time = np.sort(random.uniform(0.0, 20.0, number))
    counter = np.cumsum(values)
    edges = np.arange(0.37, 20.0, 0.7)
    gains = np.diff(np.interp(edges, time, counter))
    found = metrics.rate_variation(time, counter, (0.37, 20.0), 0.7)
    assert found == np.std(gains) / np.mean(gains)


def test_standard_error_of_a_textbook_sample():
    # sum of squares about the mean 32, s = sqrt(32 / 7) = 2.1381, over sqrt(8)
    mean, error = metrics.mean_stderr([2, 4, 4, 4, 5, 5, 7, 9])
    assert (mean, error) == pytest.approx((5.0, 0.7559), abs=1e-4)


def test_one_repeat_has_no_standard_error():
    mean, error = metrics.mean_stderr([3.0])
    assert mean == 3.0
    assert math.isnan(error)


def test_a_reduction_spread_over_samples_is_one_backoff():
    cwnd = [80, 90, 100, 80, 60, 50, 51, 52, 40, 41]
    time, before, after = metrics.backoffs(np.arange(10.0), cwnd)
    assert time.tolist() == [5.0, 8.0]
    assert before.tolist() == [100.0, 52.0]
    assert after.tolist() == [50.0, 40.0]


def test_a_dip_of_one_percent_is_no_backoff():
    time, _, _ = metrics.backoffs([0.0, 1.0, 2.0, 3.0], [100.0, 99.0, 100.0, 101.0])
    assert time.size == 0


def test_a_reduction_at_the_very_end_counts():
    time, _, after = metrics.backoffs([0.0, 1.0, 2.0], [10.0, 20.0, 10.0])
    assert time.tolist() == [2.0]
    assert after.tolist() == [10.0]


def test_largest_step_compares_neighbouring_spans():
    time = np.arange(0.0, 40.0, 0.1)
    values = np.where(time < 20.0, 100.0, 40.0)
    assert metrics.largest_step(time, values, 10.0) == pytest.approx(0.6)
    assert math.isnan(metrics.largest_step(time[:10], values[:10], 10.0))


def test_unfairness_that_lasts_a_while_is_found():
    time = np.arange(0.0, 300.5, 0.5)
    first = time * 1000.0
    second = (
        np.where(time < 100.0, time, np.where(time < 200.0, 100.0 + (time - 100.0) * 0.25, time - 75.0))
        * 1000.0
    )
    assert metrics.least_windowed_ratio(time, [first, second], (0.0, 300.0), 100.0) == pytest.approx(0.25)


def test_slope_of_a_power_law_is_its_exponent():
    x = np.array([0.1, 0.25, 0.5, 1.0])
    assert metrics.log_slope(x, 3.0 * x**2) == pytest.approx(2.0)
    assert math.isnan(metrics.log_slope([1.0, 1.0], [2.0, 3.0]))
