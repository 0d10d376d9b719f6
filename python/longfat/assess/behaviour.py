"""The experiments for section 5 of RFC 9743: the algorithm alone, with its own kind, and with others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from longfat.assess.model import Experiment, Measure, Point, Setting, Tables, bound
from longfat.assess.networks import dumbbell, flow, media, work
from longfat.words import Mode

MBPS, RTT_MS = 20.0, 40.0
"""The path of experiments that vary something else: 67 packets of BDP."""
PATH = Setting("path", "20 Mbit/s, RTT 40 ms")
RENO, CUBIC = "reno", "cubic"

UTILIZATION = Measure("utilization", "link in use", "%", "more", 100.0)
LOSS = Measure("own_loss", "packets lost", "%", "less", 100.0)
QUEUE = Measure("queue_s", "standing queue", "ms", "less", 1e3)
JAIN = Measure("jain", "Jain's index", "", "more")
WINDOWED = "Means over the span of results, which leaves the beginning out; then over the points."
RFC5166 = "RFC 5166, sections 2.1.1 to 2.1.3 and 2.3.1, name the metrics"

PER_RTT = Measure("packets_per_rtt", "packets sent in a round trip", "", "less")
BACKOFF = Measure(
    "backoff", "factor between the gaps of successive packets", "", "neither", absent="fewer than four gaps"
)
SAMPLED = {"cwnd": "20 ms"}
ALL = {"gilbert_elliott": {"good_to_bad": 1.0, "bad_to_good": 0.0, "loss_good": 1.0, "loss_bad": 1.0}}
"""The loss of every packet."""


def one(
    make: Callable[[Any, Any], Tables], values: Sequence[Any], at: Callable[[Any], str], packets: float
) -> Any:
    """Returns the points of an experiment that varies one value, in every mode."""
    return lambda mode: [Point(at(value), bound(make, value), packets) for value in values]


def _collapse(algorithm: Any, loss: float) -> Tables:
    law = loss if loss < 1.0 else ALL
    tables = dumbbell(MBPS, 60, (1, 60), flow("own", algorithm, RTT_MS), loss=law)
    return tables | {"sample": SAMPLED}


COLLAPSE = Experiment(
    "collapse",
    "Most packets lost",
    "One flow; each data packet is lost with the same probability, from the first one on.",
    (
        PATH,
        Setting(
            "loss",
            "50, 75, 90, 100 %",
            "RFC 9743, section 5.1.1, asks about extreme drop rates; the values are chosen here",
        ),
        Setting("duration", "60 s, results from 1 s on"),
    ),
    "Packets sent, over the round trips of the span; the factor is the median ratio of neighbouring gaps "
    "between "
    "packets, sampled every 20 ms.",
    (PER_RTT, replace(BACKOFF, label=f"{BACKOFF.label}, at the point where it is greatest", over="greatest")),
    one(_collapse, (0.5, 0.75, 0.9, 1.0), lambda loss: f"{100 * loss:g} % lost", 5e3),
)


def _blackout(algorithm: Any, window: tuple[float, float]) -> Tables:
    outage = {"begin": "10 s", "length": "60 s", "queue": "drains"}
    tables = dumbbell(MBPS, 140, window, flow("own", algorithm, RTT_MS), outages=[outage])
    return tables | {"sample": SAMPLED}


BLACKOUT = Experiment(
    "blackout",
    "Nothing arrives for a minute",
    "One flow on a path that carries nothing, in either direction, from 10 s to 70 s.",
    (PATH, Setting("outage", "60 s"), Setting("span of results", "11 s to 70 s")),
    "As for most packets lost, within the outage.",
    (PER_RTT, BACKOFF),
    one(_blackout, ((11, 70),), lambda _: "blackout", work(MBPS, 80)),
)
AFTER_BLACKOUT = Experiment(
    "after-blackout",
    "After the blackout",
    "The same run, from the end of the outage on.",
    BLACKOUT.settings[:2],
    "The time from the end of the outage until the throughput over one second is 80 % of the link's rate; "
    "70 s if "
    "it never is.",
    (Measure("reach_s", "time to 80 % of the link", "s", "less", never=70.0),),
    one(_blackout, ((70, 140),), lambda _: "blackout", work(MBPS, 80)),
)


def _bloat(algorithm: Any, buffer: float) -> Tables:
    return dumbbell(MBPS, 60, (20, 60), flow("own", algorithm, RTT_MS), buffer=f"{buffer:g} BDP")


BUFFERBLOAT = Experiment(
    "bufferbloat",
    "The queue of one flow",
    "One flow through a drop-tail queue.",
    (
        PATH,
        Setting(
            "buffer",
            "1/4, 1, 4, 16 BDP",
            "RFC 9743, section 5.1.2, asks about large buffers; the values are chosen here",
        ),
        Setting("duration", "60 s, results from 20 s on"),
    ),
    f"Time average of the queue over the link's rate. {RFC5166}.",
    (QUEUE, UTILIZATION),
    one(_bloat, (0.25, 1, 4, 16), lambda buffer: f"{buffer:g} BDP", work(MBPS, 60)),
)


def _crowd(algorithm: Any, number: int, buffer: float) -> Tables:
    own = flow("own", algorithm, RTT_MS, count=number)
    return dumbbell(50, 30, (10, 30), own, buffer=f"{buffer:g} BDP")


def _crowds(mode: Mode) -> list[Point]:
    numbers = (2, 8, 32) if mode == "quick" else (2, 4, 8, 16, 32, 64)
    buffers = (0.25, 1, 3) if mode == "quick" else (0.25, 0.5, 1, 1.5, 2, 3)
    return [
        Point(f"{number} flows, {buffer:g} BDP", bound(_crowd, number, buffer), work(50, 30))
        for number in numbers
        for buffer in buffers
    ]


HIGH_LOSS = Experiment(
    "high-loss",
    "Loss among many flows",
    "Flows of the algorithm through a drop-tail queue.",
    (
        Setting("path", "50 Mbit/s, RTT 40 ms"),
        Setting("flows", "2, 8, 32; in full also 4, 16, 64"),
        Setting(
            "buffer",
            "1/4, 1, 3 BDP; in full also 1/2, 1.5, 2",
            "RFC 9743, section 5.1.3, names 1.5 BDP, below which several BBR v1 flows lose much",
        ),
        Setting("duration", "30 s, results from 10 s on"),
    ),
    f"Data packets dropped over data packets sent. {RFC5166}.",
    (LOSS, UTILIZATION),
    _crowds,
)


def _alike(algorithm: Any, number: int, ratio: float) -> Tables:
    flows = (
        [flow("own", algorithm, RTT_MS, count=number)]
        if ratio == 1
        else [flow("own-1", algorithm, RTT_MS), flow("own-2", algorithm, RTT_MS * ratio)]
    )
    return dumbbell(MBPS, 60, (15, 60), *flows)


FAIRNESS = Experiment(
    "fairness",
    "Flows of the algorithm among themselves",
    "Flows of the algorithm that start within a second of each other.",
    (
        PATH,
        Setting("flows", "2, 8, and 2 with RTTs of 40 and 160 ms"),
        Setting("buffer", "1 BDP"),
        Setting("duration", "60 s, results from 15 s on"),
    ),
    f"Jain's index of the throughputs, {WINDOWED[0].lower()}{WINDOWED[1:]} {RFC5166}.",
    (JAIN, UTILIZATION),
    lambda mode: [
        Point(at, bound(_alike, number, ratio), work(MBPS, 60))
        for at, number, ratio in (("2 flows", 2, 1), ("8 flows", 8, 1), ("RTT 1:4", 2, 4))
    ],
)


def _late(algorithm: Any, _: Any) -> Tables:
    late = flow("own-2", algorithm, RTT_MS) | {"start": {"uniform": ["10 s", "15 s"]}}
    return dumbbell(MBPS, 90, (15, 90), flow("own-1", algorithm, RTT_MS), late)


CONVERGENCE = Experiment(
    "convergence",
    "A late comer",
    "A second flow of the algorithm starts between 10 and 15 s.",
    (PATH, Setting("buffer", "1 BDP"), Setting("duration", "90 s")),
    "The time after its start until the second flow runs at 80 % of the first one's rate (Ha et al. 2006); "
    "the rest of "
    "the run, about 78 s, if it never does.",
    (Measure("converges_s", "time to 80 % of the first flow", "s", "less"),),
    one(_late, (0,), lambda _: "late comer", work(MBPS, 90)),
)

SHORT_BYTES = {"30 kB": "30 kB", "250 kB": "250 kB"}


def _with_short(long: Tables, short: Any, size: str) -> Tables:
    # one every second, the first after the long flow has settled
    keys = {"bytes": size, "count": 40, "stagger": "1 s", "start": {"uniform": ["15 s", "16 s"]}}
    return dumbbell(MBPS, 60, (15, 60), long, flow("short", short, RTT_MS) | keys)


COMPLETION = Measure("completion_s", "mean completion time", "ms", "less", 1e3)
SHORT_SETTINGS = (
    PATH,
    Setting("buffer", "1 BDP"),
    Setting("transfers", "40, one every second from 15 s on, of 30 kB or 250 kB"),
    Setting("duration", "60 s, results from 15 s on"),
)
SHORT_ESTIMATOR = (
    "The mean time from the start of a transfer until its last byte is acknowledged; one that does not end "
    "counts until "
    "the end of the run. The long flow's throughput is a share of the link's rate."
)

SHORT = Experiment(
    "short",
    "Short and long flows of the algorithm",
    "A long flow of the algorithm, and short transfers that use it too.",
    SHORT_SETTINGS,
    SHORT_ESTIMATOR,
    (COMPLETION, Measure("own_of_link", "long flow, share of the link", "%", "more", 100.0)),
    one(
        lambda a, size: _with_short(flow("own", a, RTT_MS), a, size), tuple(SHORT_BYTES), str, work(MBPS, 60)
    ),
)
SHORT_OF_OTHERS = Experiment(
    "short-of-others",
    "Short transfers of CUBIC beside a long flow of the algorithm",
    "A long flow of the algorithm, and short transfers that use CUBIC.",
    SHORT_SETTINGS,
    SHORT_ESTIMATOR,
    (COMPLETION,),
    one(
        lambda a, size: _with_short(flow("own", a, RTT_MS), CUBIC, size),
        tuple(SHORT_BYTES),
        str,
        work(MBPS, 60),
    ),
)
LONG_OF_OTHERS = Experiment(
    "long-of-others",
    "A long flow of CUBIC beside short transfers of the algorithm",
    "A long flow of CUBIC, and short transfers that use the algorithm.",
    SHORT_SETTINGS,
    SHORT_ESTIMATOR,
    (COMPLETION, Measure("other_of_link", "long flow of CUBIC, share of the link", "%", "more", 100.0)),
    one(
        lambda a, size: _with_short(flow("other", CUBIC, RTT_MS), a, size),
        tuple(SHORT_BYTES),
        str,
        work(MBPS, 60),
    ),
)


def _beside(algorithm: Any, other: Tables, mbps: float, rtt_ms: float, buffer: float, number: int) -> Tables:
    own = flow("own", algorithm, rtt_ms, count=number)
    beside = flow("other", rtt_ms=rtt_ms, count=number, **other)
    return dumbbell(mbps, 60, (20, 60), own, beside, buffer=f"{buffer:g} BDP")


def _grid(other: Tables) -> Callable[[Mode], list[Point]]:
    def points(mode: Mode) -> list[Point]:
        quick = mode == "quick"
        return [
            Point(
                f"{mbps:g} Mbit/s, {rtt:g} ms, {buffer:g} BDP" + (f", {n} and {n}" if n > 1 else ""),
                bound(_beside, other, mbps, rtt, buffer, n),
                work(mbps, 60),
            )
            for mbps in ((10, 50) if quick else (5, 20, 100))
            for rtt in ((20, 80) if quick else (10, 40, 160))
            for buffer in ((0.5, 2) if quick else (0.25, 1, 4))
            for n in ((1,) if quick else (1, 4))
        ]

    return points


def _one_path(other: Tables) -> Callable[[Mode], list[Point]]:
    return lambda mode: (
        [Point("20 Mbit/s, 40 ms, 1 BDP", bound(_beside, other, MBPS, RTT_MS, 1, 1), work(MBPS, 60))]
        if mode == "quick"
        else _grid(other)(mode)
    )


SHARE = Measure("other_of_fair", "the other's share of its fair part", "%", "more", 100.0, than="beside")
OTHER_LOSS = Measure("other_loss", "the other's packets lost", "%", "less", 100.0, than="beside")
OTHER_RTT = Measure("other_rtt_s", "the other's RTT", "ms", "less", 1e3, than="beside")
GRID = (
    Setting("rate", "10, 50 Mbit/s; in full 5, 20, 100"),
    Setting("RTT", "20, 80 ms; in full 10, 40, 160"),
    Setting("buffer", "1/2, 2 BDP; in full 1/4, 1, 4"),
    Setting("number", "1 and 1; in full also 4 and 4"),
    Setting("duration", "60 s, results from 20 s on"),
    Setting(
        "range",
        "rates, delays and queue depths",
        "RFC 9743, section 6: a representative range",
    ),
)
BESIDE = (
    "The throughput of the others over what an equal division of the link would give them; their loss ratio "
    "and mean RTT. "
    "Harm in the sense of Ware et al. (HotNets 2019, not opened) is the difference from what the others get "
    "beside "
    "their own kind."
)


def _others(name: str, title: str, other: Tables, points: Callable[[Mode], list[Point]]) -> Experiment:
    return Experiment(
        f"beside-{name}",
        f"Beside {title}",
        f"As many flows of the algorithm as of {title}, with the same RTT.",
        GRID,
        BESIDE,
        (SHARE, OTHER_LOSS, OTHER_RTT),
        points,
    )


BESIDE_RENO = _others("reno", "Reno (RFC 5681)", {"algorithm": RENO}, _grid({"algorithm": RENO}))
BESIDE_CUBIC = _others("cubic", "CUBIC (RFC 9438)", {"algorithm": CUBIC}, _grid({"algorithm": CUBIC}))
QUIC: Tables = {"algorithm": "newreno", "stack": "quic"}
BESIDE_QUIC = _others("quic", "QUIC's NewReno (RFC 9002)", QUIC, _one_path(QUIC))


def _starved(name: str, title: str, other: Tables) -> Experiment:
    worst = Measure(
        SHARE.key, "the other's share of its fair part, at the worst point", "%", "more", 100.0, "least"
    )
    return Experiment(
        f"starved-{name}",
        f"The least that {title} gets",
        f"The runs beside {title}.",
        GRID,
        "The least over the points of the other's share of its fair part.",
        (worst,),
        _grid(other),
    )


STARVED_RENO = _starved("reno", "Reno", {"algorithm": RENO})
STARVED_CUBIC = _starved("cubic", "CUBIC", {"algorithm": CUBIC})


def _deaf(algorithm: Any, _: Any) -> Tables:
    return dumbbell(MBPS, 60, (1, 60), flow("own", algorithm, RTT_MS), ack_loss=ALL) | {"sample": SAMPLED}


NO_FEEDBACK = Experiment(
    "no-feedback",
    "All acknowledgements lost",
    "One flow; no acknowledgement arrives after the connection has opened.",
    (
        PATH,
        Setting("loss of ACKs", "100 %", "RFC 9743, section 5.2: a loss of all feedback"),
        Setting("duration", "60 s, results from 1 s on"),
    ),
    "As for most packets lost (5.1.1).",
    (PER_RTT, BACKOFF),
    one(_deaf, (0,), lambda _: "no feedback", 1e3),
)


def _real_time(algorithm: Any, mbps: float) -> Tables:
    queue = {"kind": "droptail", "sojourn": True}
    return dumbbell(
        10, 60, (15, 60), flow("own", algorithm, 100), media(mbps, 100), buffer="300 ms", queue=queue
    )


REAL_TIME = Experiment(
    "real-time",
    "Beside real-time traffic",
    "One flow of the algorithm and a source of datagrams at a constant rate. Longfat has no media sender "
    "that adapts: what "
    "one would do is not measured.",
    (
        Setting("rate", "10 Mbit/s"),
        Setting("RTT", "100 ms", "RFC 8867, section 4.2: 50 ms one way"),
        Setting("queue", "drop-tail, 300 ms", "RFC 8867, section 4.2"),
        Setting(
            "media", "1, 2 Mbit/s", "about the greatest rate of a video in RFC 8867, section 4.3: 1.5 Mbit/s"
        ),
        Setting("duration", "60 s, results from 15 s on"),
    ),
    "The 99th percentile of the waiting time in the queue over all packets, and the media's loss ratio.",
    (
        Measure("queue_p99_s", "waiting time, 99th percentile", "ms", "less", 1e3),
        Measure("media_loss", "media packets lost", "%", "less", 100.0),
    ),
    one(_real_time, (1.0, 2.0), lambda mbps: f"{mbps:g} Mbit/s of media", work(10, 60)),
)
