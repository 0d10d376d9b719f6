"""The thesis's networks, as it describes them."""

import numpy as np

from longfat_papers.lopez2008.common import available_mbps

STAGES_S = {name: (15.0 * number, 15.0 * number + 75.0) for number, name in enumerate("1234")}


def made_up(run, rates, lost=None, cwnd=1.0, queue=0.0, **values):
    """A reduced run whose flows have these rates: a function of a flow's name and the times, Mbit/s."""
    bin_s = float(run.document["sample"]["cwnd"].split()[0])
    end = float(run.document["duration"].split()[0])
    names = [flow["name"] for flow in run.document["flow"]]
    names = [name for name in names if not name.startswith(("udp", "scout", "cross"))]
    times = bin_s * np.arange(1, round(end / bin_s) + 1)
    flat = np.ones(times.size)
    series = [flat * rates(name, times) for name in names]
    losses = [np.zeros(times.size) for _ in names]
    for at, number in (lost or {}).items():
        losses[0][np.searchsorted(times, at + 0.5)] = number
    return {
        **run.coordinates,
        "bin_s": bin_s,
        "names": names,
        "starts_s": [0.0] * len(names),
        "means_mbps": [float(values.mean()) for values in series],
        "megabytes": [float(values.sum()) * bin_s / 8.0 for values in series],
        "sent": [1000] * len(names),
        "lost_ratio": 0.0,
        "timeouts": [0] * len(names),
        "jain": 1.0,
        "rates_mbps": [values.tolist() for values in series],
        "cwnd": [(flat * cwnd).tolist()] * len(names),
        "lost": [values.tolist() for values in losses],
        "queue": (flat * queue).tolist(),
        "links": ["bottleneck"],
        "dropped": [0.0],
        "utilizations": [1.0],
        "queue_limit": 100,
        "packets": 1000,
        **values,
    }


def follows(variation, wasted):
    """A rate that leaves a constant share of what there is."""

    def rate(name, times):
        step = times[0]
        return (1.0 - wasted) * np.array([available_mbps(variation, (at - step, at)) for at in times])

    return rate


def constant(**by_name):
    return lambda name, times: by_name.get(name, by_name.get("_" + name.split("-")[0], 0.0))


def shares(name, times):
    """An even share of 100 Mbit/s among those of the four flows that run."""
    begin, end = STAGES_S[name[-1]]
    running = sum((times > first) & (times <= last) for first, last in STAGES_S.values())
    return np.where((times > begin) & (times <= end), 100.0 / running, 0.0)


def guests(few, rtt, values):
    """Rates of the three and of the ten by time: (until, of the three, of the ten)."""

    def rate(name, times):
        mine, number = (1, 3.0) if name.startswith(few) else (2, 10.0)
        found = np.zeros(times.size)
        for entry in reversed(values[rtt]):
            found[times <= entry[0]] = entry[mine] / number
        return found

    return rate


PRINTED_6C = {
    20: [(20, 300, 700), (30, 200, 800), (60, 240, 760), (70, 260, 740), (120, 200, 800)],
    100: [(20, 500, 500), (30, 400, 600), (50, 370, 630), (60, 350, 650), (120, 300, 700)],
}
PRINTED_6D = {
    20: [(30, 200, 800), (50, 300, 700), (60, 280, 720), (70, 250, 750), (120, 150, 850)],
    100: [(60, 150, 850), (70, 100, 900), (120, 100, 900)],
}


def mean_rates(least, most):
    return [least + (most - least) * number / 9.0 for number in range(10)]


def chaotic(name, times):
    """Ten flows after the fall at 55 s: one takes over, one is silent, until 68 s."""
    even = np.full(times.size, 85.0)
    upset = (times > 55.0) & (times <= 68.0)
    special = {"xcp-1": 550.0, "xcp-2": 0.0}
    even[upset] = special.get(name, 20.0)
    return even


def as_published(experiment, run):
    at = run.coordinates
    match experiment:
        case "vcp":
            second = lambda times: np.clip(22.5 * (times - 50.0) / 100.0, 0.0, 22.5)  # noqa: E731
            return made_up(run, lambda n, t: second(t) if n == "vcp-2" else 45.0 - second(t))
        case "xcp" | "jetmax":
            return made_up(run, shares)
        case "sine-100":
            return made_up(run, follows("sine", {"newreno": 0.4, "hstcp": 0.03, "xcp": 0.01}[at["protocol"]]))
        case "sine-200":
            if at["protocol"] == "newreno":
                return made_up(run, constant(newreno=300.0))
            return made_up(run, follows("sine", {"hstcp": 0.3, "xcp": 0.01}[at["protocol"]]))
        case "steps-100" | "steps-200":
            far = experiment == "steps-200"
            wasted = {"hstcp": 0.35 if far else 0.02, "xcp": 0.1 if far else 0.02}[at["protocol"]]
            return made_up(run, follows("steps", wasted), queue=2000.0)
        case "bottleneck":
            megabytes, loss = {"a": (215.0, 0.001), "b": (223.8, 0.0), "c": (52.4, 0.2)}[at["case"]]
            return made_up(run, constant(), megabytes=[megabytes], lost_ratio=loss)
        case "peering":
            return made_up(run, constant(xcp=29.5))
        case "merge":
            return made_up(run, constant(i=280.0, j=100.0))
        case "merge-above":
            return made_up(run, constant(i=145.0, j0=50.0, j1=50.0, k=155.0))
        case "fork":
            return made_up(run, constant(i=250.0, j=250.0))
        case "errors":
            sent = {"newreno": [329.0, 172.0], "xcp": [675.4, 240.7]}[at["protocol"]]
            return made_up(
                run, lambda n, t: np.where(t < 7.0, 80.0, 98.0) if n == "j" else 280.0, megabytes=sent
            )
        case "acks" | "radar":
            lost, rate, means = {
                ("xcp", 0.0): ({5.0: 107, 55.0: 167}, constant(_xcp=85.0), (83.5, 87.5)),
                ("xcp", 0.1): ({5.0: 204, 55.0: 414}, chaotic, (81.0, 98.0)),
                ("xcp-r", 0.1): ({5.0: 192, 55.0: 302}, constant(_xcp=85.0), (82.0, 89.5)),
            }[at["protocol"], at["ack_loss"]]
            return made_up(run, rate, lost, means_mbps=mean_rates(*means))
        case "three":
            timeouts = [1, 2, 0] if (at["protocol"], at["ack_loss"]) == ("xcp", 0.3) else [0, 0, 0]
            return made_up(run, constant(_xcp=40.0), timeouts=timeouts)
        case "one":
            return made_up(run, lambda n, t: 1000.0 * filling(t, at["ack_loss"]))
        case "formula":
            near = {"xcp-r-first": 80.0}.get(at["protocol"], 49.0)
            return made_up(run, lambda n, t: near if n.endswith("-40") else 98.0 - near)
        case "starved":
            rate = 30.0 if at["rtt_ms"] == 100 else 7.0
            return made_up(run, lambda n, t: np.where(t <= 10.0, 950.0, rate) if n == "xcp-1" else 480.0)
        case "one-two":
            xcp, tcp = (341.0, 600.0) if at["rtt_ms"] == 20 else (700.0, 250.0)
            return made_up(run, lambda n, t: xcp if n == "xcp-1" else tcp / 2.0)
        case "ten-tcp":
            return made_up(run, guests("xcp", at["rtt_ms"], PRINTED_6C))
        case "ten-xcp" | "half":
            return made_up(run, guests("newreno", at["rtt_ms"], PRINTED_6D))
    return made_up(run, lambda n, t: 10.0)


def as_nobody_says(experiment, run):
    at = run.coordinates
    match experiment:
        case "vcp":
            return made_up(run, lambda n, t: np.where((n == "vcp-1") | (t > 50.0), 20.0, 0.0))
        case "xcp" | "jetmax":
            return made_up(run, lambda n, t: 50.0 if n.endswith("1") else 0.0, lost={1.0: 5.0})
        case "sine-100" | "sine-200":
            wasted = {"newreno": 0.0, "hstcp": 0.1, "xcp": 0.3}[at["protocol"]]
            return made_up(run, follows("sine", wasted), lost={1.0: 7.0})
        case "steps-100":
            return made_up(run, follows("steps", 0.2), lost={1.0: 7.0})
        case "steps-200":
            return made_up(run, follows("steps", {"hstcp": 0.1, "xcp": 0.5}[at["protocol"]]))
        case "bottleneck":
            return made_up(run, constant(), megabytes=[120.0])
        case "peering":
            rate = 10.0 if at["case"] == "clouds" else 29.5
            return made_up(run, constant(xcp=rate), lost={1.0: 9.0}, timeouts=[2])
        case "merge" | "fork":
            return made_up(run, constant(i=350.0, j=50.0))
        case "merge-above":
            return made_up(run, constant(i=150.0, j0=80.0, j1=20.0, k=100.0))
        case "errors":
            return made_up(
                run,
                lambda n, t: np.where(t < 7.0, 99.0, 50.0) if n == "j" else 300.0,
                megabytes=[90.0, 900.0],
            )
        case "acks" | "radar":
            if at["protocol"] == "xcp-r":
                silent = lambda n, t: np.where(t < 60.0, 85.0, 0.0)  # noqa: E731
                return made_up(run, silent, {5.0: 9000, 55.0: 9000}, means_mbps=mean_rates(20.0, 180.0))
            means = (20.0, 180.0) if at["ack_loss"] == 0.0 else (60.0, 70.0)
            return made_up(run, constant(_xcp=85.0), {5.0: 5000, 55.0: 5000}, means_mbps=mean_rates(*means))
        case "three":
            return made_up(
                run, constant(_xcp=40.0), timeouts=[1, 1, 1] if at["protocol"] == "xcp-r" else [0] * 3
            )
        case "one":
            return made_up(run, lambda n, t: 100.0 * (t > 0.2))
        case "formula":
            near = {"xcp-r": 90.0}.get(at["protocol"], 49.0)
            return made_up(run, lambda n, t: near if n.endswith("-40") else 98.0 - near)
        case "starved":
            return made_up(run, constant(_xcp=500.0, _newreno=200.0), cwnd=5000.0)
        case "one-two":
            return made_up(run, constant(_xcp=30.0, _newreno=480.0))
        case "ten-tcp" | "ten-xcp":
            few = "xcp" if experiment == "ten-tcp" else "newreno"
            return made_up(run, lambda n, t: 200.0 if n.startswith(few) and at["rtt_ms"] == 100 else 30.0)
        case "half":
            return made_up(run, constant(_newreno=50.0 if at["inspect"] == 1.0 else 200.0, _xcp=40.0))
    return made_up(run, lambda n, t: 10.0)


def filling(times, ack_loss):
    """5.1.1's own sum: with losses of ACKs that share of what is missing stays missing after each RTT."""
    since = np.floor((times - 0.205) / 0.1)
    return np.where(since < 0, np.where(times > 0.195, 0.001, 0.0), 1.0 - ack_loss ** np.maximum(since, 0.0))
