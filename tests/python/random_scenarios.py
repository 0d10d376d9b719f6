"""Random valid scenarios, one for each number, drawn from everything that scenario files can say.

`draw(number)` returns the tables of a scenario: dumbbells and networks of links, every queue, router and
algorithm of the registries with some of its parameters, transports over UDP, background traffic, stacks,
varying rates, losses, and the user's own algorithms. The same number gives the same tables as long as the
registries and this file stay the same; a finding therefore keeps the tables themselves.

A scenario is sized by the packets that its narrowest link can carry, so that a run takes seconds whatever its
rates are.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.scenario import registry, stacks
from longfat.scenario.model import Scenario

Table = dict[str, Any]

RATES_BPS = (1e5, 100e9)
"""The rates of links, drawn on a logarithmic scale."""
PACKETS = (300.0, 60_000.0)
"""How many packets of 1500 bytes the narrowest link can carry in a run; one run in `LONG` carries more."""
LONG, LONG_PACKETS = 40, 1_000_000.0
DURATION_S = (0.002, 300.0)
FLOWS = 6
"""The most `[[flow]]` tables."""
PLAIN: Table = {
    "duration": "1 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 packets"},
    "flow": [{"rtt": "40 ms"}],
}
"""A scenario that every row of the registries fits into."""
PLACES = {
    "algorithms": ("flow.0.algorithm", "name"),
    "queues": ("bottleneck.queue", "kind"),
    "routers": ("bottleneck.router", "kind"),
}
"""The key there of each kind of row, and the key of a row's name."""
TRIES = 200
"""Draws of a number until one is accepted: combinations that a scenario may not have are drawn again."""

OWN = '''"""Algorithms of a user for random scenarios."""


class Steady:
    """Standard TCP with its own increase and decrease."""

    def __init__(self, increase=1.0, decrease=0.5):
        self.increase, self.decrease = increase, decrease

    def on_ack(self, ack, window):
        if window.in_slow_start():
            window.slow_start(ack.acked)
        else:
            window.cwnd += self.increase * ack.acked / window.cwnd

    def on_congestion(self, event, window):
        window.ssthresh = max(2.0, (1.0 - self.decrease) * window.cwnd)


class Jumping:
    """Jumps between a small and a large window, by the numbers that it sees."""

    acks_per_call = 3

    def __init__(self, most=400.0):
        self.most, self.seen = most, 0

    def on_ack(self, ack, window):
        self.seen += ack.newly_delivered
        share = (self.seen * 2654435761 % 1000) / 1000.0
        window.cwnd = 1.0 + share * (self.most - 1.0) if ack.rtt_s else window.cwnd

    def on_congestion(self, event, window):
        window.ssthresh = 1.0 if event.cause == "timeout" else max(1.0, event.in_flight / 3.0)
'''


def own_algorithms(folder: Path) -> Path:
    """Writes the user's own algorithms into a folder, for `draw`."""
    file = folder / "own_algorithms.py"
    if not file.exists():
        file.write_text(OWN)
    return file


def draw(number: int, own: Path | None = None, packets: tuple[float, float] = PACKETS) -> Table:
    """Returns the tables of a scenario that `Scenario.from_dict` accepts.

    Args:
        number: which one.
        own: the file of `own_algorithms`; without it no flow has such an algorithm.
        packets: about the least and the greatest number of packets that it is sized for.
    """
    refused: InputError | None = None
    for attempt in range(TRIES):
        tables = _Draw(random.Random(f"{number} {attempt}"), own, packets).scenario(number)
        try:
            _ = Scenario.from_dict(tables).plan
        except InputError as error:
            refused = error
            continue
        return tables
    raise AssertionError(f"number {number}: {TRIES} draws were refused, the last one with: {refused}")


def _time(seconds: float) -> str:
    return f"{seconds:.6g} s"


def _rate(bps: float) -> str:
    return f"{bps:.6g} bit/s"


class _Draw:
    """The random choices of one scenario."""

    def __init__(self, random: random.Random, own: Path | None, sizes: tuple[float, float]) -> None:
        self.random = random
        self.own = own
        self.sizes = sizes

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def log(self, low: float, high: float) -> float:
        return float(low * (high / low) ** self.random.random())

    def some(self, choices: Table, share: float) -> Table:
        """Some of the keys, each with one of its values."""
        return {
            key: self.random.choice(values)
            for key, values in choices.items()
            if self.chance(share) and values
        }

    # The parts of a scenario

    def scenario(self, number: int) -> Table:
        rate = self.log(*RATES_BPS)
        is_long = self.sizes == PACKETS and self.chance(1 / LONG)
        packets = self.log(PACKETS[1], LONG_PACKETS) if is_long else self.log(*self.sizes)
        duration = min(max(packets * 12_000.0 / rate, DURATION_S[0]), DURATION_S[1])
        self.packets, self.rate, self.duration = packets, rate, duration
        self.rtt = min(max(duration / self.log(4.0, 400.0), 2e-6), 0.6)
        router = self.router() if self.chance(0.35) else None
        tables: Table = {
            "title": f"random {number}",
            "duration": _time(duration),
            "seed": self.random.choice([1, self.random.randrange(2**31), 2**63 - 1]),
        }
        if self.chance(0.3):
            begin, end = sorted(self.random.uniform(0.0, duration) for _ in range(2))
            if end - begin > 1e-4 * duration:
                tables["window"] = [_time(begin), _time(end)]
        if self.chance(0.55):
            tables["bottleneck"] = self.bottleneck(router)
            ends = None
        else:
            tables |= self.network(router)
            ends = [table["from"] for table in tables["link"]] + [table["to"] for table in tables["link"]]
        kind = None if router is None else router["kind"]
        protocol = None if router is None else router.get("protocol", self.protocol(kind))
        flows = self.random.randint(0 if self.chance(0.1) else 1, FLOWS)
        tables["flow"] = [self.flow(ends, kind, protocol) for _ in range(flows)]
        if self.chance(0.4) or not flows:
            parts = range(self.random.randint(1, 3))
            tables["background"] = [self.background(ends, bool(flows), protocol) for _ in parts]
        period = max(duration / self.log(5.0, 300.0), 1e-5)
        tables["sample"] = {
            "cwnd": _time(period),
            "queue": _time(max(period * self.random.choice([0.3, 1.0, 2.0]), 1e-5)),
            "events": self.chance(0.3),
        }
        return tables

    def bottleneck(self, router: Table | None) -> Table:
        way = self.way(router)
        way |= {"buffer": way["buffer"], "access_rate": _rate(self.rate * self.log(0.5, 100.0))}
        for key, value in {
            "buffer_rtt": _time(self.rtt),
            "reverse_rate": _rate(self.rate * self.log(0.02, 2.0)),
            "reverse_buffer": self.buffer(),
            "reverse_queue": self.queue(),
        }.items():
            if self.chance(0.25):
                way[key] = value
        return way

    def network(self, router: Table | None) -> Table:
        """A chain of links, now and then with a second way around a part of it."""
        hops = self.random.randint(1, 5)
        nodes = [f"n{i}" for i in range(hops + 1)]
        narrow = self.random.randrange(hops)
        links = []
        for i, (begin, end) in enumerate(itertools.pairwise(nodes)):
            here = router if i == narrow or (router is not None and self.chance(0.7)) else None
            link = {"from": begin, "to": end} | self.way(here, 1.0 if i == narrow else self.log(1.0, 20.0))
            delays = [self.rtt / (2 * hops), self.rtt * self.random.random() / hops]
            link["delay"] = _time(self.random.choice(delays if i == narrow else [0.0, *delays]))
            if self.chance(0.15):
                link["name"] = f"link {i}"
            if self.chance(0.15) and "router" not in link:
                link["layer"] = 2
            links.append(link)
        if hops > 1 and self.chance(0.3):
            aside = {"from": nodes[0], "to": nodes[-1], "name": "aside"} | self.way(None, self.log(0.5, 5.0))
            links.append(aside | {"delay": _time(self.rtt), "duplex": self.chance(0.7)})
        named = [{"name": node} for node in nodes if self.chance(0.1)]
        return {"link": links} | ({"node": named} if named else {})

    def way(self, router: Table | None, factor: float = 1.0) -> Table:
        """What a bottleneck and a link have in common."""
        way: Table = {
            "rate": self.varying(self.rate * factor),
            "buffer": self.buffer(),
            "queue": self.queue(),
        }
        if router is not None:
            way["router"] = router
        for key in ("loss", "ack_loss"):
            if self.chance(0.2):
                way[key] = self.loss()
        if self.chance(0.12):
            way["service_tick"] = _time(min(max(self.rtt * self.log(0.01, 1.0), 1e-6), 10.0))
        return way | self.disturbances("drains" if "service_tick" in way else "waits")

    def disturbances(self, queue: str) -> Table:
        """What happens to packets behind a link; `queue` is what queues do in outages."""
        found: Table = {}
        late = _time(self.rtt * self.log(0.01, 2.0))
        if self.chance(0.08):
            found["reorder"] = {"probability": self.log(1e-4, 0.5), "delay": late}
        if self.chance(0.08):
            found["jitter"] = late
        if self.chance(0.08):
            found["duplicate"] = self.log(1e-4, 0.5)
        if self.chance(0.08):
            times = sorted({self.random.uniform(0.0, self.duration) for _ in range(3)})
            steps = [[f"{time!r} s", _time(self.rtt * self.random.random())] for time in times]
            handovers = {"period": _time(max(self.duration * 0.3, 0.1)), "range": late}
            found["added_delay"] = {"steps": steps} if self.chance(0.5) else {"handovers": handovers}
        if self.chance(0.08):
            begin, length = self.duration * self.random.random(), self.duration * self.log(0.001, 0.2)
            found["outages"] = [{"begin": _time(begin), "length": _time(max(length, 1e-6)), "queue": queue}]
        if self.chance(0.05):
            found["overtaking"] = True
        if self.chance(0.05):
            found["remark"] = self.random.choice(["mark", "bleach"])
        return found

    def varying(self, rate: float) -> str | Table:
        kind = self.random.choice(["constant"] * 5 + ["sine", "steps"])
        if kind == "sine":
            least = rate * self.log(0.1, 0.9)
            period = _time(max(self.duration * self.log(0.05, 2.0), 1e-3))
            return {"sine": {"max": _rate(rate), "min": _rate(max(least, 1e3)), "period": period}}
        if kind == "steps":
            at = sorted(self.random.uniform(0.0, self.duration) for _ in range(self.random.randint(1, 4)))
            times = dict.fromkeys(map(_time, at))
            return {
                "steps": [["0 s", _rate(rate)], *([time, _rate(rate * self.log(0.1, 1.0))] for time in times)]
            }
        return _rate(rate)

    def buffer(self) -> str:
        kind = self.random.randrange(4)
        if kind == 0:
            return f"{round(self.log(1, 3000))} packets"
        if kind == 1:
            return f"{round(self.log(20_000, 4e6))} B"
        if kind == 2:
            return _time(max(self.rtt * self.log(0.05, 2.0), 13_000.0 / self.rate))
        return f"{self.log(2, 300):.3g} % BDP"

    def loss(self) -> float | Table:
        kind = self.random.randrange(3)
        if kind == 0:
            return self.log(1e-5, 0.1)
        if kind == 1:
            return {"every": self.random.randint(10, 5000)}
        chain = {"good_to_bad": self.log(1e-4, 0.05), "bad_to_good": self.log(0.02, 1.0)}
        return {
            "gilbert_elliott": chain | self.some({"loss_good": [0.0, 0.001], "loss_bad": [0.3, 1.0]}, 0.5)
        }

    def queue(self) -> str | Table:
        if self.chance(0.4):
            return "droptail"
        row = self.random.choice(registry.rows("queues"))
        return {"kind": row["name"], **self.parameters("queues", row)}

    def router(self) -> Table:
        row = self.random.choice(registry.rows("routers"))
        return {"kind": row["name"], **self.parameters("routers", row)}

    def protocol(self, kind: str | None) -> str | None:
        """The protocol of a router, or the default of its parameter."""
        row = registry.find("routers", kind) if kind else None
        if row is None:
            return None
        told = {parameter["name"]: parameter["default"] for parameter in row["parameters"]}.get("protocol")
        return str(told) if told else row.get("protocol")  # type: ignore[return-value]

    def parameters(self, kind: registry.Kind, row: registry.Row) -> Table:
        """Some of a row's parameters, near their defaults; none if they do not go together."""
        chosen: Table = {}
        for parameter in row["parameters"]:
            if not self.chance(0.25):
                continue
            if parameter["choices"]:
                chosen[parameter["name"]] = self.random.choice(parameter["words"])
                continue
            value = float(parameter["default"]) * self.log(0.5, 2.0)
            for bound, closer in ((parameter["least"], max), (parameter["greatest"], min)):
                value = value if bound is None else closer(value, bound)
            if parameter["unit"] in ("", "queues", "packets") and float(parameter["default"]).is_integer():
                value = float(round(value))
            chosen[parameter["name"]] = registry.written(row["name"], parameter, value)
        try:
            key, word = PLACES[kind]
            Scenario.from_dict(PLAIN, changes={key: {word: row["name"], **chosen}})
        except InputError:
            return {}
        return chosen

    # Flows and backgrounds

    def flow(self, ends: list[str] | None, router: str | None, protocol: str | None) -> Table:
        flow: Table = {"algorithm": self.algorithm(router, protocol)} | self.ends(ends)
        if ends is None:
            flow["rtt"] = self.rtts()
        if self.chance(0.5):
            flow["start"] = self.random.choice(
                [_time(self.time()), {"uniform": ["0 s", _time(self.duration / 3)]}]
            )
        if self.chance(0.15):
            flow["stop"] = _time(self.random.uniform(0.5, 1.0) * self.duration)
        if self.chance(0.3):
            flow["bytes"] = f"{round(self.log(1, 1500.0 * self.packets))} B"
        if self.chance(0.2):
            flow |= {
                "count": self.random.randint(2, 8),
                "stagger": _time(self.duration * self.random.random() / 20),
            }
        return flow | self.transport(flow["algorithm"], router)

    def ends(self, ends: list[str] | None) -> Table:
        if ends is None:
            return {"direction": "reverse"} if self.chance(0.15) else {}
        begin, end = self.random.sample(sorted(set(ends)), 2)
        return {"from": begin, "to": end}

    def time(self) -> float:
        return self.random.random() ** 2 * self.duration

    def rtts(self) -> str | Table:
        rtt = max(self.rtt * self.log(0.3, 3.0), 1e-6)
        kind = self.random.randrange(8)
        if kind == 0:
            return {"uniform": [_time(rtt), _time(2 * rtt)]}
        if kind == 1:
            return {"exponential": _time(2 * rtt), "least": _time(rtt)}
        if kind == 2:
            return {"empirical": [_time(rtt), [_time(3 * rtt), 2]]}
        return _time(rtt)

    def algorithm(self, router: str | None, protocol: str | None) -> str | Table:
        if self.own is not None and self.chance(0.06):
            if self.chance(0.5):
                return f"{self.own}:Jumping"
            gain = {
                "increase": self.random.randint(1, 8),
                "decrease": round(self.random.uniform(0.1, 0.8), 3),
            }
            return {"name": f"{self.own}:Steady"} | (gain if self.chance(0.7) else {})
        rows = registry.rows("algorithms")
        if protocol is not None and self.chance(0.75):
            rows = [row for row in rows if row.get("protocol") == protocol]
        elif router == "ptp" and self.chance(0.75):
            rows = [row for row in rows if row["name"] == "cadpc"]
        else:
            rows = [row for row in rows if not row.get("protocol") and row["name"] != "cadpc"]
        row = self.random.choice(rows)
        chosen: Table = {"name": row["name"], **self.parameters("algorithms", row)}
        for parameter in row["parameters"]:
            if parameter["name"] in ("rate", "target_rate"):  # what a sender costs goes up with it
                chosen[parameter["name"]] = _rate(self.rate * self.log(0.02, 1.5))
        if row["name"] == "onoff":
            chosen |= {key: self.period(self.log(0.01, 0.5)) for key in ("on", "off")}
        if row["name"] == "rbudp":
            chosen["payload"] = round(self.log(3000, 1500.0 * self.packets) / 2**20, 4) or 0.01
        return row["name"] if len(chosen) == 1 else chosen

    def period(self, share: float) -> str:
        """An on- or off-period of a source, as a share of the run."""
        return _time(min(max(self.duration * share, 1e-3), 1000.0))

    def transport(self, algorithm: str | Table, router: str | None) -> Table:
        row = registry.algorithm_named(algorithm)
        hosts = {
            "host_tick": ["1 ms", "10 ms", _time(max(self.rtt / 7, 1e-6))],
            "interrupt_moderation": ["100 us", _time(max(self.rtt / 11, 1e-6))],
        }
        if row is not None and row.get("transport") != "tcp":
            return self.some(hosts | {"mss": ["500 B", "1448 B", "8948 B"]}, 0.1)
        if row is not None and self.chance(0.2):
            return {"stack": self.random.choice(stacks.NAMES)}
        switches = ("ssthresh_cache", "delayed_ack", "byte_counting", "cwnd_moderation", "timestamps")
        watched = row is not None and not row.get("explicit") and not row.get("model_based")
        watched = watched and row is not None and row["name"] != "cubic"  # it may have its own HyStart
        choices: Table = hosts | {
            "mss": ["64 B", "500 B", "1448 B", "8948 B"],
            "initial_window": [1, 2.5, 10, 100],
            "initial_ssthresh": [2, 40.5, "infinite"],
            "max_window": [1, 7.5, 1000],
            "max_burst": [1, 3, 50],
            "slow_start": ["limited", *(["hystart++", "search"] if watched else [])],
            "ecn": [True, False, "accurate", "l4s"],
            "abe": [True] if row is not None and row.get("abe") else [],
            "max_ssthresh": [10.0, 50.0],
            "delayed_ack_timeout": ["1 ms", "40 ms", "200 ms"],
            "quick_acks": [0, 3],
            "sack_compression": ["1 ms", _time(max(self.rtt / 9, 1e-6))],
            "slow_start_limit": [1, "infinite"],
            "loss_detection": ["rack", "sack", "newreno", "reno-classic", "tahoe"],
            "recovery": ["rate-halving-to-half", "prr", "prr-9937", "immediate"],
            "timeout_reductions": ["each"],
            "first_reduction": ["half"],
            "rtt_samples": ["last", "numbered"],
            "send_jitter": ["10 us", _time(max(self.rtt / 9, 1e-6))],
            "rto_min": ["10 ms", "1 s", "0 s"],
            "rto_min_of": ["timeout"],
            "rto_tick": ["10 ms", "100 ms"],
            "backoff_until": ["new-segment"],
            "initial_rto": ["20 ms", "3 s"],
            "quick_start": ["1 Mbit/s", "1 Gbit/s"] if router == "quickstart" else [],
            "receiver": [
                {"conceal_losses": True},
                {"ack_ahead": 5, "hide_marks": True},
                {"divide_acks": 3, "hide_marks": True},
                {"conceal_losses": True, "divide_acks": 2},
            ],
        }
        return self.some(choices | {key: [True, False] for key in switches}, 0.1)

    def background(self, ends: list[str] | None, has_flows: bool, protocol: str | None) -> Table:
        kind = self.random.choice(["web", "surge", "short", "bulk", "onoff"])
        part: Table = {"kind": kind} | self.ends(ends)
        if ends is None:
            part["direction"] = self.random.choice(["forward", "reverse", "both"])
            if not has_flows or self.chance(0.5):
                part["rtt"] = self.rtts()
        if self.chance(0.1):
            part["stop"] = _time(self.random.uniform(0.3, 1.0) * self.duration)
        load = f"{self.random.randint(1, 60)} %"
        if kind == "web":
            gap = max(self.duration / self.log(1.0, 100.0), 1e-4)
            part |= {"sessions": self.random.randint(1, 20), "gap": _time(gap)}
            part |= self.some({"page": ["1 kB", "30 kB"], "shape": [1.05, 2.0]}, 0.4)
        elif kind == "surge":
            part |= {"users": self.random.randint(1, 30)} if self.chance(0.6) else {"load": load}
            part |= self.some({"largest": ["1 MB", "3 MB"]}, 0.5)
        elif kind == "short":
            # an arrival costs about what its packets cost; the mean size is some 20 packets
            gap = max(self.duration * 20.0 / self.packets, self.duration / 3000.0)
            part |= {"gap": _time(gap)} if self.chance(0.5) else {"load": load}
            part |= self.some(
                {"sizes": [{"empirical": ["10 kB", ["200 kB", 2]]}], "tail_share": [0.0, 0.3]}, 0.3
            )
            if "sizes" in part:
                part.pop("tail_share", None)
        elif kind == "bulk":
            part["flows"] = self.random.randint(1, 12)
        else:
            part["sources"] = self.random.randint(1, 12)
            table = {"name": "onoff", "on": self.period(1 / 9), "off": self.period(1 / 5)}
            if self.chance(0.5):
                part |= {"load": load, "algorithm": table}
            else:
                part["algorithm"] = table | {"rate": _rate(self.rate * self.log(0.01, 0.2))}
            if self.chance(0.5):
                part["algorithm"]["periods"] = "exponential"
            return part
        if self.chance(0.5):
            rows = [
                row
                for row in registry.rows("algorithms")
                if row.get("transport") == "tcp" and row.get("protocol") in (None, protocol)
            ]
            row = self.random.choice(rows)
            part["algorithm"] = {"name": row["name"], **self.parameters("algorithms", row)}
        transport = self.transport(part.get("algorithm", "reno"), None)
        return part | transport
