"""The kernel's own eBPF selftests, built here from Debian's source package and not kept."""

import sys
from pathlib import Path
from typing import Any

import pytest

import longfat
from live_runs import able, able_to_load, skip

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "validation" / "live"))

import kernel_source
import selftests

__all__ = ["able", "able_to_load"]

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    try:
        built = kernel_source.build(selftests.SELFTESTS, tmp_path_factory.mktemp("selftests"))
    except kernel_source.NotBuiltError as error:
        skip(str(error))
    return {each.name.partition(".")[0]: each for each in built}


def flow_of(algorithm: Any, marked: bool) -> dict[str, Any]:
    path = selftests.SelftestPath(Path("bpf_dctcp" if marked else "bpf_cubic"), 1, 20.0, 40, 1.0)
    scenario = path.scenario(1)
    scenario["flow"][0]["algorithm"] = algorithm
    flow: dict[str, Any] = longfat.run(scenario).summary["flows"][0]
    return flow


@pytest.mark.parametrize(
    ("name", "native"),
    [
        ("bpf_cubic", {"name": "cubic", "variant": "linux"}),
        ("bpf_dctcp", {"name": "dctcp", "variant": "linux"}),
    ],
)
def test_a_selftest_does_in_the_simulator_what_the_native_algorithm_does(
    name: str, native: dict[str, str], objects: dict[str, Path]
) -> None:
    own, other = (flow_of(algorithm, name == "bpf_dctcp") for algorithm in (str(objects[name]), native))
    assert own["throughput_bps"] == pytest.approx(other["throughput_bps"], rel=0.02)
    assert own["cwnd_mean"] == pytest.approx(other["cwnd_mean"], rel=0.05)


def test_bpf_cc_cubic_waits_for_timeouts_where_a_window_loses_two_segments(objects: dict[str, Path]) -> None:
    flow = flow_of(str(objects["bpf_cc_cubic"]), marked=False)
    assert flow["congestion_events"] > 5
    assert flow["timeouts"] > 0.5 * flow["congestion_events"]


@pytest.mark.live
@pytest.mark.usefixtures("able_to_load")
@pytest.mark.parametrize("name", ["bpf_cubic", "bpf_dctcp"])
def test_a_selftest_does_in_the_kernel_what_it_does_in_the_simulator(
    name: str, objects: dict[str, Path]
) -> None:
    path = selftests.SelftestPath(objects[name], 1, 10.0, 65, 0.74)
    simulated, live = (longfat.run(path.scenario(1), backend=backend) for backend in ("sim", "live"))
    if not live.summary["validity"]["valid"]:
        pytest.skip(f"the live run is not valid: {live.summary['validity']['checks']}")
    flows = [each.summary["flows"][0] for each in (simulated, live)]
    tolerance = selftests.TOLERANCE
    assert flows[1]["throughput_bps"] == pytest.approx(
        flows[0]["throughput_bps"], rel=tolerance["throughput"]
    )
    assert flows[1]["cwnd_mean"] == pytest.approx(flows[0]["cwnd_mean"], rel=tolerance["cwnd"])
