"""Basic scenarios (EVAL-4, EVAL-4.4.4, EVAL-A): section 4."""

from __future__ import annotations

from longfat.figure.data import Panel, Table
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import above, at_most
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.means import mean_factor
from longfat_papers.tcpeval import common as ev
from longfat_papers.tcpeval import networks as nw

SETTINGS = (
    *ev.TRAFFIC,
    Setting("links", "rates, delays and buffers of 4.4.1 to 4.4.6", "4.4"),
    Setting("loads", "60, 85 and 110 %, from right to left", "4.2"),
    Setting("times", "those of Tables 2 to 7; shorter in quick mode", "4.4"),
    Setting(
        "wireless LAN",
        f"{nw.WIRELESS.mbps:.3g} Mbit/s down and {nw.WIRELESS.up_mbps:.3g} up, {nw.WIRELESS.buffer} each "
        f"way; the load is that of both together, of {nw.WIRELESS_MBPS:g} Mbit/s",
        "4.4.5 (nominal rate, load); "
        + CHOSEN_HERE
        + ": Longfat has no shared medium, so each direction has the part that its share of the load is; "
        "what one does not use is lost to the other. The draft prints no buffer of the base station; 50 "
        "packets are a BDP of the nominal rate at the mean RTT",
    ),
    ev.EDGE_LINKS,
)


@ev.experiment(
    "basic", "section 4", "Basic scenarios", {"scenario": tuple(nw.BASIC), "load": nw.LOADS, "repeat": 1}
)
def six_links(mode: Mode, algorithm: str, scenario: str, load: int, repeat: int) -> nw.Table:
    basic = nw.BASIC[scenario]
    title = f"{basic.title} at {load} %, {algorithm}"
    times, traffic = basic.span(mode, load), basic.traffic(algorithm, load)
    return nw.scenario(title, times, bottleneck=basic.link(), background=traffic)


@six_links.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    links = [(float(x), item) for x, item in enumerate(nw.BASIC.values()) if runs.has(scenario=item.name)]

    def panel(key: str, label: str, log: bool, load: int) -> Panel:
        curves = ev.lines(
            runs.where(load=load),
            lambda at: ((x, at.where(scenario=item.name).mean_stderr(key)) for x, item in links),
        )
        categories = tuple(item.title for _, item in links)
        return Panel(f"{load} % offered", "", label, curves, y_log=log, categories=categories)

    return Drawing(
        "Six links, from right to left, at offered loads of 60, 85 and 110 %. All connections use the "
        "algorithm. Without drops there is no point. The table has the other direction too." + repeats(runs),
        tuple(
            panel(key, label, log, load)
            for key, label, log in (
                ("utilization", "utilization", False),
                ("drop_ratio", "dropped / arrived", True),
                ("delay_ms", "mean queueing delay, ms", True),
            )
            for load in runs.distinct("load")
        ),
        columns=3,
        table=_table(runs),
    )


def _table(runs: Runs) -> Table:
    formats = {"utilization": ".3f", "drop_ratio": ".2g", "delay_ms": ".3g"}
    names = ("utilization", "drops", "delay, ms")
    return Table(
        ("link", "load", "algorithm", *names, *(f"up: {name}" for name in names)),
        tuple(
            (
                item.title,
                f"{row['load']} %",
                ev.title(row["algorithm"]),
                *(f"{row[way + key]:{form}}" for way in ("", "up_") for key, form in formats.items()),
            )
            for item in nw.BASIC.values()
            for row in runs
            if row["scenario"] == item.name
        ),
    )


@six_links.claim(
    "4",
    "six links at three loads",
    "prints no value; utilization, drop rate and queueing delay of the central link are asked for (4.5)",
    settings=SETTINGS,
    bounds=ev.REPORTED + " Delay and utilization are not compared.",
    reports=True,
)
def drops_on_each_link(runs: Runs) -> Checks:
    most = max(nw.LOADS)
    values = {}
    for name, own in ev.each(runs):
        for item in nw.BASIC.values():
            at = own.where(scenario=item.name)
            values[f"{name}, {item.name}"] = {
                str(load): [
                    at.where(load=load).mean(key) for key in ("utilization", "drop_ratio", "delay_ms")
                ]
                for load in nw.LOADS
            }
            if name != nw.STANDARD:
                text = f"{ev.title(name)}, {item.title}, {most} %: drops"
                drops = (values[f"{each}, {item.name}"][str(most)][1] for each in (name, nw.STANDARD))
                yield at_most(text, *drops, than="standard TCP's")
    access = {
        name: " / ".join("{:.3f} {:.2g} {:.1f} ms".format(*row) for row in rows.values())
        for name, _ in ev.each(runs)
        for rows in [values[f"{name}, {nw.ACCESS.name}"]]
    }
    base = values[f"{nw.STANDARD}, {nw.ACCESS.name}"][str(most)][1]
    return Evidence(
        "access link at 60 / 85 / 110 %, utilization, drops, delay: " + ev.told(access),
        values,
        figure=Measured("standard TCP's drops on the access link at 110 %", base),
    )


@six_links.claim(
    "4.4.4",
    "geostationary satellite: 40 Mbit/s down, 4 Mbit/s up",
    "congestion is often on the uplink, although most of the traffic is in the downlink direction",
    settings=SETTINGS,
    bounds="With standard TCP; drops are shares of the packets.",
    note="It depends on what the uplink is offered. The draft's traces say that; here it was chosen.",
)
def the_uplink_is_congested(runs: Runs) -> Checks:
    at = runs.where(algorithm=nw.STANDARD, scenario=nw.SATELLITE.name)
    drops = {
        load: [at.where(load=load).mean(key) for key in ("up_drop_ratio", "drop_ratio")] for load in nw.LOADS
    }
    for load, (up, down) in drops.items():
        yield above(f"{load} %: drops of the uplink", up, down, than="the downlink's")
    seen = ", ".join(f"{load} % {up:.2g} {down:.2g}" for load, (up, down) in drops.items())
    return Evidence(
        f"share of packets dropped, uplink and downlink: {seen}",
        drops,
        figure=Measured("drops of the uplink at 110 %", drops[max(nw.LOADS)][0]),
    )


@six_links.claim(
    "A",
    "data centre, loads below the capacity",
    "prints no value; measures load as the mean number of jobs in an M/G/1 queue with processor sharing, "
    "which is rho / (1 - rho), because TCP aims at processor sharing",
    settings=(
        *SETTINGS,
        Setting("link", "the data centre", CHOSEN_HERE + ": the queue has no propagation delay"),
    ),
    estimator="Sum of the durations of completed connections within the measured span over its length.",
    bounds="The mean number of standard TCP's connections is reported beside the queue's, without a verdict: "
    "the draft does not say that they are equal.",
    note="A first form of this entry judged whether the two are within a factor 2 (they are not).",
    reports=True,
)
def connections_and_processor_sharing(runs: Runs) -> Checks:
    at = runs.where(algorithm=nw.STANDARD, scenario=nw.DATA_CENTER.name)
    factors, texts = {}, []
    for load in nw.LOADS:
        if load < 100:
            number, law = at.where(load=load).mean("active"), load / 100.0 / (1.0 - load / 100.0)
            factors[load] = number / law
            texts.append(f"{load} % {number:.3g}, queue {law:.3g}")
    yield from ()
    return Evidence(
        "mean number of flows: " + "; ".join(texts),
        factors,
        figure=Measured(
            "factor between measured number of flows and the queue's",
            mean_factor(factors.values()),
            published=1.0,
            log=True,
        ),
    )
