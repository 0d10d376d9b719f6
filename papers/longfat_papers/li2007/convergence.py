"""Time to converge after the start of a second flow (Fig. 14)."""

from __future__ import annotations

from longfat_papers.kit import (
    Check,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    at_most,
    between,
    geometric_mean,
    multiple,
    part,
    seconds,
    within_factor,
)
from longfat_papers.li2007 import common as lls

SLOW_S = 100.0
"""Scalable-TCP, HS-TCP and BIC-TCP need longer."""
LEVEL_S = (15.0, 60.0)
LEVEL_FACTOR = 2.0
"""H-TCP's time levels off."""
PRINTED_LEVEL_S = 30.0
"""V-F: where it does."""
SMALLEST_SHARE = 0.5
"""Share of the RTTs at which FAST-TCP is the fastest."""
SLOW_LINK_FACTOR = 2.0

like_flows = lls.PAPER.experiment("F14", "Fig. 14", "Convergence time")(lls.like_flows)


@like_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = [
        panel
        for quantity, text in (
            ("convergence_80_s", "flow 2 at 80 % of flow 1"),
            ("convergence_own_s", "flow 2 at 80 % of its own mean"),
        )
        for panel in lls.rate_panels(runs, quantity, "s", f"{{}} Mbit/s, {text}", y_log=True, reached=True)
    ]
    return Drawing(
        "Short-term averages over about 100 RTT (eq. 2); points are missing where most repeats do not "
        "converge within 600 s. Above: the fairness ratio of the figure's caption; below: the definition of "
        f"III-A.{lls.repeated(runs)} The paper: Scalable-TCP, HS-TCP, BIC-TCP over 100 s or never, H-TCP "
        "about 30 s, FAST-TCP the shortest.",
        tuple(panels),
        title="80 % convergence time after the start of a second flow",
    )


@like_flows.claim(
    "F14a",
    "80 % convergence time after a second flow's start, 250 Mbit/s",
    published=(
        "Scalable-TCP, HS-TCP, BIC-TCP over 100 s or never; H-TCP levels off near 30 s; FAST-TCP is the "
        "fastest; standard TCP does not converge at long RTT"
    ),
    estimator=lls.CONVERGENCE,
    bounds='Numbers for "levels off" chosen here.',
    note="The time by III-A's definition (80 % of the flow's own mean) is in the figure and the values.",
)
def most_take_long_on_the_fast_link(runs: Runs) -> Checks:
    runs = runs.where(rate_mbps=lls.HIGH_MBPS)
    times, own = (
        {name: lls.times_by_rtt(runs.where(algorithm=name), quantity) for name in lls.ALGORITHMS}
        for quantity in ("convergence_80_s", "convergence_own_s")
    )
    longest = max(times["htcp"])
    last = {name: found[longest] for name, found in times.items()}
    for name in ("stcp", "hstcp", "bic"):
        text = f"{lls.TITLES[name]} at {longest} ms: over {SLOW_S:g} s or never"
        yield Check(text, last[name] > SLOW_S, seconds(last[name]))
    for rtt, value in times["htcp"].items():
        if rtt >= lls.LEVEL_FROM_MS:
            yield between(f"H-TCP at {rtt} ms, s", value, *LEVEL_S)
    text = f"H-TCP at {longest} ms against {lls.LEVEL_FROM_MS} ms, s"
    most = LEVEL_FACTOR * times["htcp"][lls.LEVEL_FROM_MS]
    yield at_most(text, last["htcp"], most, than=f"{multiple(LEVEL_FACTOR)} the latter")
    fastest = sum(
        all(value < times[name][rtt] for name in lls.ALGORITHMS if name != "fast")
        for rtt, value in times["fast"].items()
    )
    yield Check(
        f"FAST-TCP the smallest at more than {part(SMALLEST_SHARE)} of the RTTs",
        fastest > SMALLEST_SHARE * len(times["fast"]),
        f"at {fastest} of {len(times['fast'])}",
    )
    yield Check(f"standard TCP at {longest} ms: never", last["reno"] == lls.NEVER, seconds(last["reno"]))
    return Evidence(
        "; ".join(f"{lls.TITLES[name]}: {lls.times_text(found)}" for name, found in times.items()),
        {
            "convergence_80_s": times,
            "convergence_own_s": own,
        },
        figure=lls.time_figure(
            f"H-TCP at {longest} ms", runs.where(algorithm="htcp", rtt_ms=longest), PRINTED_LEVEL_S
        ),
    )


@like_flows.claim(
    "F14b",
    "80 % convergence time after a second flow's start, 10 Mbit/s",
    published="H-TCP takes about as long as standard TCP",
    estimator=lls.CONVERGENCE,
    bounds="If both never converge at an RTT, it is undecided. Factor chosen here.",
)
def htcp_is_as_fast_on_the_slow_link(runs: Runs) -> Checks:
    runs = runs.where(rate_mbps=lls.LOW_MBPS)
    standard, htcp = (lls.times_by_rtt(runs.where(algorithm=name)) for name in ("reno", "htcp"))
    for rtt, expected in standard.items():
        value, text = htcp[rtt], f"{rtt} ms: H-TCP's time, s"
        if value < lls.NEVER and expected < lls.NEVER:
            yield within_factor(text, value, expected, SLOW_LINK_FACTOR, than="standard TCP's")
        else:
            yield Check(
                f"{text} within a factor {SLOW_LINK_FACTOR:g} of standard TCP's",
                None if value == expected else False,
                f"{seconds(value)} against {seconds(expected)}",
            )
    ratios = (min(htcp[rtt], lls.DURATION_S) / min(standard[rtt], lls.DURATION_S) for rtt in standard)
    return Evidence(
        f"standard TCP: {lls.times_text(standard)}; H-TCP: {lls.times_text(htcp)}",
        {"reno": standard, "htcp": htcp},
        figure=Measured(
            "H-TCP's time / standard TCP's, mean over RTTs", geometric_mean(ratios), published=1.0, log=True
        ),
    )
