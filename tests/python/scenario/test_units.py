import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.scenario.schema import scenario_schema
from longfat.units import RATE, SIZE, TIME, Dimension, split
from samples import table


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
    accepted = "accepted: bit/s, kbit/s, Mbit/s"
    with pytest.raises(ValueError, match=f'"furlongs" is not a unit of rate; {accepted}'):
        RATE.parse("5 furlongs")


@pytest.mark.parametrize(
    ("dimension", "text", "meant"),
    [
        (RATE, "100 Mbps", '"100 Mbit/s"'),
        (RATE, "100mbps", '"100 Mbit/s"'),
        (RATE, "1 Gbps", '"1 Gbit/s"'),
        (RATE, "64 kbps", '"64 kbit/s"'),
        (RATE, "10 Mb/s", '"10 Mbit/s"'),
        (RATE, "10 MBps", '"10 MB/s"'),  # bytes stay bytes
        (RATE, "10 mb/s", '"10 Mbit/s" or "10 MB/s"'),
        (RATE, "10 mbit/s", '"10 Mbit/s"'),
        (TIME, "5 msec", '"5 ms"'),
        (TIME, "5 sec", '"5 s"'),
        (TIME, "1.5e1 usec", '"1.5e1 us"'),
        (TIME, "5 minutes", '"5 min"'),
        (SIZE, "5 KB", '"5 kB" or "5 KiB"'),
        (SIZE, "5 bytes", '"5 B"'),
    ],
)
def test_other_spellings_of_a_unit_get_a_suggestion(dimension: Dimension, text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"is not a unit of \w+, did you mean {meant}\?; accepted: "):
        dimension.parse(text)


def test_the_greek_letter_mu_is_read_as_the_micro_sign() -> None:
    assert TIME.parse("20 \u03bcs") == TIME.parse("20 \u00b5s") == 2e-5


@pytest.mark.parametrize(
    ("dimension", "bare", "guess"),
    [
        (RATE, 250e6, "250 Mbit/s"),
        (RATE, "100", "100 Mbit/s"),
        (TIME, 0.042, "42 ms"),
        (TIME, "42", "42 ms"),
        (SIZE, 1448, "1448 B"),
        (TIME, float("nan"), "42 ms"),
    ],
)
def test_a_number_without_a_unit_is_told_its_likely_form(
    dimension: Dimension, bare: float | str, guess: str
) -> None:
    with pytest.raises(ValueError, match=f'needs a unit; accepted: "{guess}"'):
        dimension.parse(bare)


def test_a_number_without_a_unit_gets_the_unit_of_its_key() -> None:
    with pytest.raises(ValueError, match='accepted: "60 s"'):
        TIME.parse(60, like="5 s")


SCHEMA = scenario_schema()
PATTERNS = {
    "time": (SCHEMA["properties"]["duration"]["pattern"], TIME.units),
    "rate": (SCHEMA["$defs"]["Bottleneck"]["properties"]["access_rate"]["pattern"], RATE.units),
    "buffer": (
        SCHEMA["$defs"]["Buffer"]["anyOf"][1]["pattern"],
        ("% BDP", "%BDP", "BDP", *SIZE.units, *TIME.units),
    ),
}


@pytest.mark.parametrize("kind", PATTERNS)
@given(text=st.text(max_size=12) | st.from_regex(r"[0-9.+-]{1,4}(e[0-9]{1,3})?( ?(ms|B/s|% +BDP|packets))?"))
def test_the_pattern_of_a_quantity_matches_what_is_read(kind: str, text: str) -> None:
    pattern, units = PATTERNS[kind]
    found = split(text)
    is_read = found is not None and found[1] in units and not text.strip().startswith("-")
    assert (re.match(pattern, text) is not None) == is_read


@given(st.floats(min_value=0, max_value=1e12, allow_subnormal=False), st.sampled_from([TIME, RATE, SIZE]))
def test_what_is_written_is_read_back_as_the_same_float(value: float, dimension: Dimension) -> None:
    assert dimension.parse(dimension.write(value)) == value


def parameters() -> list[tuple[str, str, registry.Parameter]]:
    """Every parameter that is a number, with its row and the key that reads it."""
    places: dict[registry.Kind, str] = {
        "algorithms": "flow.0.algorithm",
        "queues": "bottleneck.queue",
        "routers": "bottleneck.router",
    }
    return [
        (key, row["name"], parameter)
        for kind, key in places.items()
        for row in registry.rows(kind)
        for parameter in row["parameters"]
        if not parameter["choices"]
    ]


def test_parameters_are_read_back_in_their_declared_unit() -> None:
    for key, row, parameter in parameters():
        name = parameter["name"]
        value = 0.987_654_321_012_345_6 * (float(parameter["default"]) or parameter["greatest"] or 1.0)
        value = min(max(value, parameter["least"] or value), parameter["greatest"] or value)
        word = "name" if "algorithm" in key else "kind"
        written = {word: row, name: registry.written(row, parameter, value)}
        found = Scenario.from_toml(read({key: written}).to_toml())
        part = found.flow[0] if "algorithm" in key else found.bottleneck
        assert getattr(part, key.rpartition(".")[2]).settings[name] == value, (row, name)


def read(changes: dict[str, object]) -> Scenario:
    """The scenario of other tests with these keys."""
    return Scenario.from_dict(table(), changes=changes)


def red(**parameters: object) -> dict[str, float | str]:
    """The parameters of a RED queue that were read."""
    found = read({"bottleneck.queue": {"kind": "red", **parameters}}).bottleneck.queue.parameters
    return dict(found)


def algorithm(name: str, **parameters: object) -> dict[str, float | str]:
    """The parameters of an algorithm that were read."""
    found = read({"flow.0.algorithm": {"name": name, **parameters}}).flow[0].algorithm.parameters
    return dict(found)


def test_parameters_with_a_dimension_need_a_unit_and_counts_may_go_without() -> None:
    assert algorithm("htcp", delta_l="20 ms") == {"delta_l": 0.02}
    assert algorithm("onoff", rate="12 Mbit/s") == {"rate": 12.0}
    assert red(min=31) == red(min="31 packets") == {"min": 31.0}
    assert algorithm("cubic", beta=0.875) == algorithm("cubic", beta="87.5 %") == {"beta": 0.875}
    with pytest.raises(ValueError, match='accepted: "3 s"'):
        algorithm("htcp", delta_l=3)
    with pytest.raises(ValueError, match='accepted: a number, 20 or "20 packets"'):
        red(min="25 ms")
    with pytest.raises(ValueError, match=r'accepted: a number, 0\.\d+ or "0\.\d+ of the window" or "\d+ %"'):
        algorithm("cubic", beta="much")


@pytest.mark.parametrize("text", ["1_000 ms", "1 000 ms"])
def test_digits_are_not_grouped(text: str) -> None:
    with pytest.raises(ValueError, match="is not a unit of time"):
        TIME.parse(text)


def test_decimal_fractions_are_exact() -> None:
    assert TIME.parse("0.1 ms") == 1e-4
    assert TIME.parse("1.1 ms") == 0.0011  # 1.1 * 1e-3 is another float
    assert SIZE.parse("1.1 MB") == 1.1e6  # as is 1.1 * 1e6
