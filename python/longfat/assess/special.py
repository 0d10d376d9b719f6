"""The experiments for section 7 of RFC 9743: special cases."""

from __future__ import annotations

from typing import Any

from longfat.assess.behaviour import JAIN, LOSS, MBPS, PATH, QUEUE, RTT_MS, UTILIZATION, WINDOWED, one
from longfat.assess.model import Experiment, Measure, Point, Setting, Tables, bound
from longfat.assess.networks import dumbbell, flow, media, seconds, work

QUEUES: dict[str, Tables] = {
    "CoDel": {"kind": "codel"},
    "FQ-CoDel": {"kind": "fq_codel"},
    "PIE": {"kind": "pie"},
    "RED": {"kind": "red", "min": "8 packets", "max": "25 packets"},
    "DualPI2": {"kind": "dualpi2"},
}
"""RED has thresholds of 5 and 15 ms at 20 Mbit/s (chosen here); the others have their own defaults."""


def _managed(algorithm: Any, queue: str, ecn: bool) -> Tables:
    spec = QUEUES[queue] if queue == "DualPI2" else {**QUEUES[queue], "ecn": ecn}
    own = flow("own", algorithm, RTT_MS, count=2, **({"ecn": True} if ecn else {}))
    return dumbbell(MBPS, 40, (15, 40), own, buffer="200 ms", queue=spec, router=None)


AQM = Experiment(
    "aqm",
    "Active queue management",
    "Two flows of the algorithm through each queue, without ECN and with it.",
    (
        PATH,
        Setting(
            "queues",
            ", ".join(QUEUES),
            "RFC 9743, section 7.1, names FQ-CoDel, PIE and L4S; CoDel and RED are added",
        ),
        Setting("RED", "thresholds of 8 and 25 packets (5 and 15 ms)"),
        Setting("other parameters", "the defaults of each queue"),
        Setting("buffer", "200 ms"),
        Setting("duration", "40 s, results from 15 s on"),
    ),
    WINDOWED,
    (UTILIZATION, QUEUE, LOSS, JAIN),
    lambda mode: [
        Point(
            f"{queue}, {'ECN' if ecn else 'drops'}",
            bound(_managed, queue, ecn),
            work(MBPS, 40),
        )
        for queue in QUEUES
        for ecn in (False, True)
    ],
)

FALL = {"steps": [["0 s", "20 Mbit/s"], ["20 s", "2 Mbit/s"]]}


def _breaker(algorithm: Any, number: int) -> Tables:
    tables = dumbbell(MBPS, 50, (20, 50), flow("own", algorithm, RTT_MS, count=number))
    tables["bottleneck"]["rate"] = FALL
    return tables


BREAKER = Experiment(
    "breaker",
    "Congestion that a circuit breaker would see",
    "Flows of the algorithm on a link whose rate falls to a tenth at 20 s.",
    (
        PATH,
        Setting("fall", "20 to 2 Mbit/s at 20 s"),
        Setting("flows", "1, 4"),
        Setting(
            "heavy loss",
            "more than 10 % of the packets of a second",
            "RFC 8084 gives no threshold; chosen here",
        ),
        Setting("span of results", "20 s to 50 s"),
    ),
    "The number of seconds of heavy loss, and the loss ratio, after the fall.",
    (Measure("heavy_loss_s", "seconds of heavy loss", "s", "less"), LOSS),
    one(_breaker, (1, 4), lambda n: f"{n} flow{'s' if n > 1 else ''}", work(MBPS, 20)),
)

DELAYS: dict[str, Tables] = {
    "handovers": {"handovers": {"period": "5 s", "range": "20 ms"}},
    "step up": {"steps": [["20 s", "30 ms"]]},
    "step down": {"steps": [["0 s", "30 ms"], ["20 s", "0 ms"]]},
}


def _delayed(algorithm: Any, name: str) -> Tables:
    return dumbbell(MBPS, 60, (20, 60), flow("own", algorithm, RTT_MS), added_delay=DELAYS[name])


DELAY = Experiment(
    "delay",
    "A minimum delay that varies",
    "One flow of the algorithm; the path's own delay changes, and not the queue.",
    (
        PATH,
        Setting("handovers", "every 5 s another delay, up to 20 ms more each way"),
        Setting("steps", "30 ms more, or less, each way at 20 s"),
        Setting("span of results", "20 s to 60 s"),
    ),
    WINDOWED,
    (UTILIZATION, QUEUE),
    one(_delayed, tuple(DELAYS), str, work(MBPS, 60)),
)


def _tiny(algorithm: Any, number: int) -> Tables:
    own = flow("own", algorithm, 200, count=number)
    return dumbbell(0.064, 300, (60, 300), own, buffer="10 packets")


IOT = Experiment(
    "iot",
    "A tiny bandwidth-delay product",
    "Flows of the algorithm on a link that takes longer for a packet than the round trip.",
    (
        Setting("rate", "64 kbit/s", "draft-irtf-iccrg-tcpeval-01, 4.4.6, dial-up link"),
        Setting("RTT", "200 ms"),
        Setting("buffer", "10 packets"),
        Setting("flows", "1, 3"),
        Setting("duration", "300 s, results from 60 s on"),
    ),
    "As elsewhere; packets sent again are a share of all that were sent.",
    (UTILIZATION, LOSS, Measure("own_again", "packets sent again", "%", "less", 100.0), QUEUE),
    one(_tiny, (1, 3), lambda n: f"{n} flow{'s' if n > 1 else ''}", 2e3),
)


def _far(algorithm: Any, loss: float) -> Tables:
    own = flow("own", algorithm, 600)
    return dumbbell(40, 120, (0, 120), own, loss=loss, reverse_rate="4 Mbit/s")


GEO = Experiment(
    "geo",
    "A geostationary satellite",
    "One flow of the algorithm on a path of 2000 packets, from its start on.",
    (
        Setting("rates", "40 and 4 Mbit/s", "draft-irtf-iccrg-tcpeval-01, 4.4.4, satellite"),
        Setting("RTT", "600 ms", "draft-irtf-iccrg-tcpeval-01, 4.4.4: 300 ms each way"),
        Setting("buffer", "1 BDP"),
        Setting("loss", "0, 0.01 %"),
        Setting("duration", "120 s, all of it"),
    ),
    "The time until the throughput over one second is 80 % of the link's rate, 120 s if it never "
    "is; the link in use from the start on.",
    (UTILIZATION, Measure("reach_s", "time to 80 % of the link", "s", "less", never=120.0)),
    one(_far, (0.0, 1e-4), lambda loss: f"{100 * loss:g} % lost", work(40, 120)),
)

HABITS: dict[str, Tables] = {
    "losses concealed": {"conceal_losses": True},
    "ACKs 20 ahead": {"ack_ahead": 20},
    "ACKs in 8 parts": {"divide_acks": 8},
    "marks hidden": {"hide_marks": True},
}


def _lied_to(algorithm: Any, name: str) -> Tables:
    keys: Tables = {"ecn": True} if name == "marks hidden" else {}
    own = flow("own", algorithm, RTT_MS, receiver=HABITS[name], **keys)
    queue: Tables = {"queue": {"kind": "codel", "ecn": True}} if keys else {}
    return dumbbell(MBPS, 40, (10, 40), own, flow("other", algorithm, RTT_MS, **keys), **queue)


RECEIVERS = Experiment(
    "receivers",
    "Misbehaving receivers",
    "Two flows of the algorithm, of which one has a receiver that breaks the rules.",
    (
        PATH,
        Setting(
            "habits",
            ", ".join(HABITS),
            "after Savage et al., CCR 29(5), 1999, from memory, not verified",
        ),
        Setting("queue", "drop-tail of 1 BDP; for hidden marks CoDel with ECN"),
        Setting("duration", "40 s, results from 10 s on"),
    ),
    "The throughput of the honest receiver's flow over half of the link's rate, and the loss ratio of the "
    "other one.",
    (
        Measure("other_of_fair", "the honest flow's share of its fair part", "%", "more", 100.0, than="with"),
        Measure("own_loss", "the other flow's packets lost", "%", "less", 100.0),
    ),
    one(_lied_to, tuple(HABITS), str, work(MBPS, 40)),
)


def _marked(algorithm: Any, remark: str) -> Tables:
    return dumbbell(MBPS, 40, (10, 40), flow("own", algorithm, RTT_MS, ecn=True), remark=remark)


ROUTERS = Experiment(
    "routers",
    "A router that marks everything",
    "One flow that negotiates ECN, through a router that marks every packet although there is no congestion.",
    (PATH, Setting("buffer", "1 BDP"), Setting("duration", "40 s, results from 10 s on")),
    WINDOWED,
    (Measure("utilization", "link in use", "%", "neither", 100.0),),
    one(_marked, ("mark",), lambda _: "all marked", work(MBPS, 40)),
)

ORDERS: dict[str, Tables] = {
    "1 %, 20 ms": {"reorder": {"probability": 0.01, "delay": "20 ms"}},
    "20 %, 20 ms": {"reorder": {"probability": 0.2, "delay": "20 ms"}},
    "1 %, 100 ms": {"reorder": {"probability": 0.01, "delay": "100 ms"}},
}


def _reordered(algorithm: Any, name: str) -> Tables:
    return dumbbell(MBPS, 40, (10, 40), flow("own", algorithm, RTT_MS), **ORDERS[name])


REORDERING = Experiment(
    "reordering",
    "Extreme reordering",
    "One flow of the algorithm; a share of the packets arrives late.",
    (
        PATH,
        Setting("late packets", "1 % and 20 % by 20 ms, 1 % by 100 ms"),
        Setting("loss detection", "the algorithm's own in Longfat: SACK (RFC 6675) for most"),
        Setting("duration", "40 s, results from 10 s on"),
    ),
    "As elsewhere; packets sent again in vain are a share of all that were sent.",
    (UTILIZATION, Measure("own_spurious", "packets sent again in vain", "%", "less", 100.0)),
    one(_reordered, tuple(ORDERS), str, work(MBPS, 40)),
)


def _burst(algorithm: Any, window: tuple[float, float]) -> Tables:
    burst = media(16, RTT_MS) | {"start": "20 s", "stop": "30 s"}
    return dumbbell(MBPS, 60, window, flow("own", algorithm, RTT_MS), burst)


BURST_SETTINGS = (
    PATH,
    Setting("burst", "16 Mbit/s of datagrams from 20 s to 30 s"),
    Setting("buffer", "1 BDP"),
)
BURST = Experiment(
    "burst",
    "A sudden onset of congestion",
    "One flow of the algorithm; datagrams take 80 % of the link for ten seconds.",
    BURST_SETTINGS,
    "The flow's loss ratio during the burst, and the standing queue.",
    (LOSS, QUEUE),
    one(_burst, ((20, 30),), lambda _: "burst", work(MBPS, 60)),
)
REACH = Measure("reach_s", "time to 80 % of the link", "s", "less", never=30.0)
AFTER_BURST = Experiment(
    "after-burst",
    "After the burst",
    "The same run, from the end of the burst on.",
    BURST_SETTINGS,
    "The time until the throughput over one second is 80 % of the link's rate; 30 s if it never is.",
    (REACH,),
    one(_burst, ((30, 60),), lambda _: "burst", work(MBPS, 60)),
)


def _break(algorithm: Any, length_s: float) -> Tables:
    outage = {"begin": "20 s", "length": seconds(length_s)}
    return dumbbell(MBPS, 60, (20 + length_s, 60), flow("own", algorithm, RTT_MS), outages=[outage])


OUTAGE = Experiment(
    "outage",
    "A short disconnection",
    "One flow of the algorithm; the link carries nothing for a while, and its queue waits.",
    (PATH, Setting("outage", "0.5 s, 3 s from 20 s on"), Setting("buffer", "1 BDP")),
    "The time after the outage until the throughput over one second is 80 % of the link's rate; 30 s if it "
    "never is.",
    (REACH,),
    one(_break, (0.5, 3.0), lambda length: f"{length:g} s", work(MBPS, 60)),
)

CHANGES: dict[str, Tables] = {
    "5 to 20 Mbit/s": {"rate": {"steps": [["0 s", "5 Mbit/s"], ["20 s", "20 Mbit/s"]]}},
    "20 to 5 Mbit/s": {"rate": {"steps": [["0 s", "20 Mbit/s"], ["20 s", "5 Mbit/s"]]}},
    "RTT 40 to 120 ms": {"added_delay": {"steps": [["20 s", "40 ms"]]}},
    "RTT 120 to 40 ms": {"added_delay": {"steps": [["0 s", "40 ms"], ["20 s", "0 ms"]]}},
}


def _changed(algorithm: Any, name: str) -> Tables:
    tables = dumbbell(MBPS, 60, (20, 60), flow("own", algorithm, RTT_MS))
    tables["bottleneck"] |= CHANGES[name]
    return tables


PATHS = Experiment(
    "paths",
    "Sudden changes of the path",
    "One flow of the algorithm; at 20 s the rate or the delay changes.",
    (
        PATH,
        Setting("rate", "5 to 20 Mbit/s, 20 to 5 Mbit/s"),
        Setting("RTT", "40 to 120 ms, 120 to 40 ms"),
        Setting("buffer", "67 packets"),
        Setting("span of results", "20 s to 60 s"),
    ),
    WINDOWED,
    (UTILIZATION, QUEUE, LOSS),
    one(_changed, tuple(CHANGES), str, work(MBPS, 60)),
)

DATA_CENTRE_MBPS, DATA_CENTRE_RTT_MS = 1000.0, 0.5


def _data_centre(algorithm: Any, ecn: bool) -> Tables:
    keys: Tables = {"ecn": True} if ecn else {}
    # marks all that finds more than 20 packets, as DCTCP wants it
    step = {"kind": "red", "min": "20 packets", "max": "21 packets", "max_p": 1, "weight": 1, "ecn": True}
    queue: Tables = {"queue": step | {"harddrop": False}} if ecn else {}
    own = flow("own", algorithm, DATA_CENTRE_RTT_MS, count=2, **keys) | {
        "start": {"uniform": ["0 s", "20 ms"]}
    }
    return dumbbell(DATA_CENTRE_MBPS, 2, (0.5, 2), own, buffer="150 packets", **queue)


def _incast(algorithm: Any, number: int) -> Tables:
    own = flow("short", algorithm, DATA_CENTRE_RTT_MS, count=number, bytes="128 kB")
    own |= {"start": {"uniform": ["0 s", "100 us"]}}
    return dumbbell(DATA_CENTRE_MBPS, 5, (0, 5), own, buffer="150 packets")


DATA_CENTRE = Experiment(
    "data-centre",
    "A data centre",
    "Two flows of the algorithm on a fast path of less than 2 ms, with a drop-tail queue and with marks "
    "above a threshold.",
    (
        Setting("path", "1 Gbit/s, RTT 0.5 ms, 150 packets of buffer", "RFC 9743, section 7.11: below 2 ms"),
        Setting("marks", "above 20 packets", "a step as DCTCP's (RFC 8257); its value is chosen here"),
        Setting("duration", "2 s, results from 0.5 s on"),
    ),
    WINDOWED,
    (UTILIZATION, Measure("queue_s", "standing queue", "us", "less", 1e6), LOSS, JAIN),
    one(_data_centre, (False, True), lambda ecn: "marks" if ecn else "drops", work(DATA_CENTRE_MBPS, 2)),
)
INCAST = Experiment(
    "incast",
    "Many nodes answer at once",
    "Transfers of 128 kB that start within 100 us.",
    (
        Setting("path", "1 Gbit/s, RTT 0.5 ms, 150 packets of buffer"),
        Setting("transfers", "8, 32"),
    ),
    "The time until the last one is complete.",
    (Measure("completion_last_s", "completion of the last one", "ms", "less", 1e3),),
    one(_incast, (8, 32), lambda n: f"{n} transfers", 5e3),
)
