"""The relatives, as their own papers and the thesis describe them."""

import numpy as np

from longfat_papers.relatives import networks
from longfat_papers.relatives.blasts import predicted_mbps
from longfat_papers.relatives.common import TARGETS
from longfat_papers.relatives.rcp import sharing_s
from longfat_papers.relatives.reduction import SHORT_BINS

LIMIT = 100


def made_up(run, rates, queue=0.02, goodput=None, lost=0.0):
    """A reduced run whose flows have constant rates: a function of a flow's name, Mbit/s."""
    bin_s = float(run.document["sample"]["cwnd"].split()[0])
    end = float(run.document["duration"].split()[0])
    flows = [flow for flow in run.document.get("flow", ()) if not flow["name"].startswith(("udp", "scout"))]
    names = [flow["name"] for flow in flows]
    starts = [flow["start"] for flow in flows]
    bins = round(end / bin_s)
    values = [float(rates(name)) for name in names]
    return {
        "bin_s": bin_s,
        "names": names,
        "starts_s": [float(start["uniform"][0].split()[0]) for start in starts],
        "rates_mbps": [np.full(bins, value).tolist() for value in values],
        "goodputs_mbps": [value if goodput is None else goodput for value in values],
        "sent": [1000] * len(names),
        "lost": [1000 * lost] * len(names),
        "timeouts": [0] * len(names),
        "queue": np.full(bins, queue * LIMIT).tolist(),
        "queue_limit": LIMIT,
        "links": ["bottleneck"],
        "dropped": [0],
        "packets": 1000,
    }


def times(run, factor):
    """Completion times of short flows, as a multiple of those of processor sharing."""
    row = made_up(run, lambda name: 0.0)
    for number, (least, most) in enumerate(SHORT_BINS, start=1):
        packets = 0.4 * (least + most)
        row[f"short_{number}_packets"] = packets
        row[f"short_{number}_s"] = factor * sharing_s(packets, run.coordinates["mbps"])
        row[f"short_{number}_flows"] = 100.0
    return row


def on_lot(system, factor=1.0):
    """Max-min fair rates, of which the flow over all links gets a part."""
    shares = networks.lot_shares(TARGETS[system], 1.0 if system == "cadpc" else 0.0)
    return lambda name: shares[name] * (factor if name == networks.LONG else 1.0)


def as_published(experiment, run):
    at = run.coordinates
    system, wrapped = at.get("system"), at.get("case") == "wrapped"
    if experiment == "shares":
        return made_up(run, lambda name: TARGETS[system] * 100.0 / at["flows"])
    if experiment == "short":
        return times(run, {"rcp": 1.1, "xcp": 15.0, "reno": 10.0}[system])
    if experiment == "lot":
        return made_up(run, on_lot(system, 0.4 if system == "reno" else 1.0))
    if experiment == "point":
        return made_up(run, lambda name: 100.0 / (at["flows"] + 1))
    if experiment == "harmed":
        return made_up(run, lambda name: 8.0 if name.startswith("tcp") else 30.0)
    if experiment == "slow":
        return made_up(run, lambda name: 9.8 / at["flows"], queue=0.6 if system == "newreno" else 0.1)
    if experiment == "fast":
        expected = predicted_mbps(at["gigabytes"], 1448.0 / 1500.0)
        return made_up(run, lambda name: {"rbudp": expected, "reno": 4.0}.get(system, 930.0))
    if experiment == "lossy":
        return made_up(run, lambda name: 850.0 if system == "tsunami" else 1.0)
    if experiment == "delays":
        unlike = {"20 ms": 240.0, "100 ms": 50.0}
        return made_up(run, lambda name: unlike[name] if system == "reno" else 145.0)
    if experiment == "beside":
        tcp = {"reno": 480.0, "sabul": 300.0}.get(system, 20.0)
        return made_up(run, lambda name: tcp if name == "tcp" else 960.0 - tcp)
    if experiment == "clouds":
        return made_up(run, lambda name: 95.0, lost=0.0 if wrapped else 0.2)
    if experiment == "mixes":
        own = 60.0 if wrapped else 5.0
        return made_up(run, lambda name: own if name == "explicit" else 0.5 * (195.0 - own))
    hurt = at["ack_loss"] > 0.0
    return made_up(run, lambda name: 30.0 if hurt else 50.0, lost=0.1 if hurt else 0.01)


def as_nobody_says(experiment, run):
    at = run.coordinates
    system, wrapped = at.get("system"), at.get("case") == "wrapped"
    if experiment == "shares":
        return made_up(run, lambda name: 0.5 * 100.0 / at["flows"], queue=0.9)
    if experiment == "short":
        return times(run, {"rcp": 5.0, "xcp": 2.0, "reno": 2.5}[system])
    if experiment == "lot":
        factor = 1.0 if system == "reno" else 0.3
        shares = on_lot(system)
        return made_up(run, lambda name: factor * shares(name))
    if experiment == "point":
        return made_up(run, lambda name: 50.0 / (at["flows"] + 1))
    if experiment == "harmed":
        return made_up(run, lambda name: (24.0 if wrapped else 20.0) if name.startswith("tcp") else 30.0)
    if experiment == "slow":
        return made_up(run, lambda name: 6.0 if name.endswith("-1") else 0.2, queue=0.6)
    if experiment == "fast":
        return made_up(run, lambda name: 300.0)
    if experiment == "lossy":
        return made_up(run, lambda name: 400.0)
    if experiment == "delays":
        unlike = {"20 ms": 240.0, "100 ms": 50.0}
        return made_up(run, lambda name: unlike[name] if system == "sabul" else 145.0)
    if experiment == "beside":
        tcp = 100.0 if system == "sabul" else 480.0
        return made_up(run, lambda name: tcp if name == "tcp" else 960.0 - tcp)
    if experiment == "clouds":
        return made_up(run, lambda name: 50.0, lost=0.2)
    if experiment == "mixes":
        own = 5.0 if wrapped else 10.0
        return made_up(run, lambda name: own if name == "explicit" else 20.0)
    return made_up(run, lambda name: 50.0)
