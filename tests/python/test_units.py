from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.units import RATE, SIZE, TIME, Dimension, from_declared, to_declared


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (TIME, "42 ms", 0.042),
        (TIME, "42ms", 0.042),
        (TIME, " .5 s ", 0.5),
        (TIME, "20 µs", 2e-5),
        (TIME, "10 min", 600.0),
        (TIME, "1e3 ns", 1e-6),
        (RATE, "250 Mbit/s", 2.5e8),
        (RATE, "1500 kB/s", 1.2e7),
        (SIZE, "512 KiB", 524288.0),
        (SIZE, "9.4 kB", 9400.0),
    ],
)
def test_quantities_are_read_in_si(dimension: Dimension, text: str, value: float) -> None:
    assert dimension.parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ms",
        "4 2 ms",
        "nan ms",
        "inf s",
        "--4 ms",
        "0x10 s",
        "1e s",
        None,
        True,
        [],
        "9" * 200,
        "١٢ ms",
        "４２ ms",
    ],
)
def test_what_is_no_quantity_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match=r"accepted: .*ms"):
        TIME.parse(text)


def test_a_bare_number_is_refused_with_its_likely_form() -> None:
    with pytest.raises(ValueError, match='a time needs a unit; accepted: "42 ms"'):
        TIME.parse(42)
    with pytest.raises(ValueError, match='a rate needs a unit; accepted: "100 Mbit/s"'):
        RATE.parse(100.0)


def test_a_wrong_unit_is_refused_with_the_right_ones() -> None:
    with pytest.raises(ValueError, match='"Mb" is no unit of a rate; accepted: bit/s, kbit/s, Mbit/s'):
        RATE.parse("5 Mb")


@given(st.floats(min_value=0, max_value=1e12, allow_subnormal=False), st.sampled_from([TIME, RATE, SIZE]))
def test_what_is_written_is_read_back_as_the_same_float(value: float, dimension: Dimension) -> None:
    assert dimension.parse(dimension.write(value)) == value


@given(
    st.floats(min_value=1e-6, max_value=1e6),
    st.sampled_from(["s", "kB/s", "bytes", "segments", "packets", ""]),
)
def test_parameters_are_read_back_in_their_declared_unit(value: float, unit: str) -> None:
    assert to_declared(from_declared(value, unit), unit) == value


def test_parameters_with_a_dimension_need_a_unit_and_counts_may_go_without() -> None:
    assert to_declared("20 ms", "s") == 0.02
    assert to_declared("12 Mbit/s", "kB/s") == 1500.0
    assert to_declared(31, "segments") == to_declared("31 segments", "segments") == 31.0
    assert to_declared(0.875, "of the window") == to_declared("87.5 %", "of the window") == 0.875
    assert to_declared("0.125 1/s", "1/s") == 0.125
    with pytest.raises(ValueError, match='accepted: "3 s"'):
        to_declared(3, "s")
    with pytest.raises(ValueError, match='accepted: a number, 20 or "20 packets"'):
        to_declared("25 ms", "packets")
    with pytest.raises(ValueError, match=r'accepted: a number, 0\.2 or "0\.2 of the capacity" or "20 %"'):
        to_declared("much", "of the capacity")


@pytest.mark.parametrize("text", ["1_000 ms", "1 000 ms"])
def test_digits_are_not_grouped(text: str) -> None:
    with pytest.raises(ValueError, match="is no unit of a time"):
        TIME.parse(text)


def test_decimal_fractions_are_exact() -> None:
    assert TIME.parse_exactly("0.1 ms") == Fraction(1, 10_000)
