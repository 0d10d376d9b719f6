"""How fast one flow fills a constant capacity, with and without losses of ACKs (5.1.1; LOP-5e)."""

from __future__ import annotations

from longfat.runs import metrics
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Panel, Runs, mean, points, settings
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import rows

END_S = 3
FILLED = (0.7, 0.91)
"""After one RTT and after two, as the thesis reckons."""
FULL = 0.95
"""After ten."""
ALPHA = 0.4
"""XCP's share of the spare capacity that is given out in a control interval (6.1)."""


@lp.experiment("one", "5.1.1", "Losses of ACKs, constant capacity", ack_loss=(0.0, 0.3))
def one(ack_loss: float, repeat: int) -> lp.Document | None:
    """Without losses there is nothing to repeat."""
    if repeat and not ack_loss:
        return None
    flow = lp.flow("xcp", "xcp", lp.ONE_RTT_MS, start="0 s")
    title, more = f"one flow of XCP, {ack_loss:.0%} of the ACKs lost", {"router": "xcp", "ack_loss": ack_loss}
    return lp.dumbbell(title, lp.ONE_MBPS, lp.VBE_BUFFER, [flow], END_S, sample_s=0.01, **more)


def _filled(runs: Runs, loss: float) -> list[list[float]]:
    return [row.filled(lp.ONE_MBPS, 1e-3 * lp.ONE_RTT_MS) for row in rows(runs, ack_loss=loss)]


@one.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    over_time, filled = [], []
    after = [float(rtts) for rtts in range(1, 11)]
    for number, loss in enumerate(runs.distinct("ack_loss")):
        label = f"{loss:.0%} of the ACKs lost"
        over_time.append(dr.history(label, dr.first(runs, ack_loss=loss), "xcp", number, 0.02))
        found = zip(after, zip(*_filled(runs, loss), strict=True), strict=False)
        samples = [(rtts, metrics.mean_stderr(shares)) for rtts, shares in found]
        most = [min(1.0, ALPHA * (1.0 - loss) * rtts) for rtts in after]
        filled.append(points(label, samples, None, number))
        filled.append(dr.dashed(f"at most, {loss:.0%} lost", after, most, dr.GREY + number))
    filled.append(dr.dashed("thesis, 30% lost", after, [1.0 - 0.3**rtts for rtts in after], dr.RED))
    axis = "round-trip times since the first data"
    shares = Panel(
        "after each RTT", axis, "share of the link", tuple(filled), x_range=(0.0, 10.5), y_range=(0.0, 1.1)
    )
    return Drawing(
        f"100 ms.{dr.shown(runs)} The thesis expects 70 % after one RTT and 91 % after two when 30 % of the "
        "ACKs are lost. But in a control interval, which is one RTT, XCP's router gives out at most alpha = "
        f"{ALPHA:g} of the spare capacity, of which 70 % arrive: after n RTTs at most {0.7 * ALPHA:g} n of "
        "the link. The thesis's numbers are those of alpha = 1.",
        (dr.rates("over time", over_time, 3.0), shares),
        title="How fast one XCP flow fills 1 Gbit/s",
    )


@one.claim(
    "5e",
    "one XCP flow, constant capacity, 30 % ACK loss (5.1.1)",
    "fills 70 % after one RTT, 91 % after two",
    settings=settings("""
bottleneck | 1 Gbit/s, 100 ms, 12500 packets | 5.1.1 has 1 Gbit/s; the rest chosen here
"""),
    values={"after_one": FILLED[0], "after_two": FILLED[1]},
    bounds="Filled is the share of the capacity that arrives in an RTT; the first begins one RTT after the "
    f"first data. {lp.NEAR:g} around the numbers and the share after ten are chosen here.",
)
def filled_in_two_round_trips(runs: Runs) -> Checks:
    each = _filled(runs, 0.3)
    lossy, clean = ([mean(at) for at in zip(*found, strict=True)] for found in (each, _filled(runs, 0.0)))
    yield ck.between("filled after one RTT", lossy[0], *lp.around(FILLED[0]))
    yield ck.between("filled after two RTTs", lossy[1], *lp.around(FILLED[1]))
    text = "filled after one RTT, over that without loss"
    yield ck.between(text, lossy[0] / clean[0], *lp.around(FILLED[0]))
    yield ck.at_least("filled after ten RTTs", lossy[9], FULL)
    some, some_clean = (", ".join(f"{at[n - 1]:.2f}" for n in (1, 2, 3, 5, 10)) for at in (lossy, clean))
    return Evidence(
        f"filled after 1, 2, 3, 5, 10 RTTs: {some}; without loss {some_clean}",
        {"filled": lossy, "filled_without_loss": clean},
        figure=Measured.mean("filled after one RTT", (shares[0] for shares in each), FILLED[0]),
    )
