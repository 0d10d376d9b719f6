"""Delay and throughput over the buffer (EVAL-5.1): section 5.1."""

from __future__ import annotations

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, Setting
from longfat_papers.kit.checks import at_least, below
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.means import geometric_mean
from longfat_papers.kit.text import percent
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw

EXPENSE = 0.01
"""Share of its throughput that an algorithm loses with the smallest buffer."""
MANY = 0.5
"""Share of the algorithms."""


@ev.experiment(
    "tradeoff",
    "section 5.1",
    "Delay and throughput over the buffer",
    {"buffer": (10, 20, 50, 100, 200), "repeat": ev.REPEATS},
)
def access_link(mode: Mode, algorithm: str, buffer: int, repeat: int) -> nw.Table:
    return nw.scenario(
        f"buffer of {buffer} % BDP, {algorithm}",
        nw.ACCESS.span(mode, nw.HIGH_LOAD),
        bottleneck=nw.ACCESS.link(f"{buffer / 100.0 * nw.BUFFER_RTT_MS:g} ms"),
        background=nw.ACCESS.traffic(algorithm, nw.HIGH_LOAD),
    )


@access_link.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    buffers = runs.distinct("buffer")

    def panel(key: str, label: str, log: bool) -> Panel:
        curves = ev.lines(
            runs,
            lambda own: (
                (at.mean("delay_ms"), at.mean_stderr(key))
                for at in (own.where(buffer=percent) for percent in buffers)
            ),
        )
        return Panel("", "mean queueing delay, ms", label, curves, x_log=True, y_log=log)

    return Drawing(
        "The access link, 100 Mbit/s, at an offered load of 85 %, with buffers of "
        + ", ".join(map(str, buffers))
        + " % of its BDP at 100 ms, from left to right. Right: the mean time of a transfer."
        + repeats(runs),
        (
            panel("utilization", "throughput / capacity", False),
            panel("drop_ratio", "dropped / arrived", True),
            panel("transfer_s_all", "mean completion time, s", False),
        ),
        columns=3,
    )


@access_link.claim(
    "5.1",
    "access link at 85 %, buffers of 10 to 200 % of the BDP",
    "smaller buffers improve latency, but often at the expense of throughput",
    settings=(
        *ev.TRAFFIC,
        Setting("link", "the access link at 85 %, both buffers varied", "5.1.1"),
        ev.EDGE_LINKS,
    ),
    bounds=f"Lost: at least {percent(EXPENSE)} %, with the smallest buffer against the largest. {ev.NUMBERS}",
    note="A first form of the rule asked every algorithm to lose throughput. BBRv3 did not (0.5 %), and "
    "the rule was changed after that, because the draft says often.",
)
def smaller_buffers_delay_less_and_often_carry_less(runs: Runs) -> Checks:
    least, most = min(runs.distinct("buffer")), max(runs.distinct("buffer"))
    values, texts, throughputs = {}, {}, []
    for name, own in ev.each(runs):
        small, large = own.where(buffer=least), own.where(buffer=most)
        delays = [at.mean("delay_ms") for at in (small, large)]
        throughput, slower = (small.mean(key) / large.mean(key) for key in ("utilization", "transfer_s_all"))
        text = f"{ev.title(name)}: delay with {least} %"
        yield below(text, *delays, than=f"that with {most} % of the BDP")
        throughputs.append(throughput)
        texts[name] = (
            f"{delays[0]:.2g} and {delays[1]:.3g} ms, throughput {throughput:.3f}, transfers {slower:.2f} "
            "times as long"
        )
        values[name] = {"delay_ms": delays, "throughput": throughput, "transfer_time": slower}
    lost = sum(throughput <= 1.0 - EXPENSE for throughput in throughputs)
    yield at_least("share of the algorithms that lose throughput", lost / len(values), MANY)
    return Evidence(
        f"{least} % against {most} % BDP: {ev.told(texts, '; ')}",
        values,
        figure=Measured("throughput kept with the smallest buffer, mean", geometric_mean(throughputs)),
    )
