"""Writes the first inputs of the fuzz targets: plans, texts, packets, queues, captures, objects and others.

    python fuzz/seeds.py FOLDER

Each target gets a folder below FOLDER. Files that are there already stay as they are.
"""

from __future__ import annotations

import gzip
import json
import lzma
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from longfat.api import run
from longfat.runs.capture import Capture
from longfat.scenario.model import Scenario

SCENARIOS = Path(__file__).parent.parent / "scenarios"
OBJECTS = Path(__file__).parent.parent / "bpf" / "out"
LARGEST_BYTES = 1 << 15
"""Longer plans are left out: libFuzzer is slow with them. Traces make plans long."""


def plans() -> Iterator[tuple[str, bytes]]:
    """Yields the plan of each scenario."""
    for path in sorted(SCENARIOS.glob("*.toml")):
        text = json.dumps(Scenario.load(path).plan, separators=(",", ":")).encode()
        if len(text) <= LARGEST_BYTES:
            yield path.stem, text


def packets() -> Iterator[tuple[str, bytes]]:
    """Yields packets of TCP with options and of UDP, as they are on the wire but for their checksums."""
    stamp = bytes([1, 1, 8, 10]) + struct.pack(">II", 1, 2)
    handshake = bytes([2, 4, 5, 180, 4, 2, 8, 10]) + struct.pack(">II", 1, 0) + bytes([1, 3, 3, 7])
    holes = stamp + bytes([1, 1, 5, 10]) + struct.pack(">II", 3000, 4448)
    told = bytes([254, 12, 0x4C, 0x46])
    for name, flags, options, payload in (
        ("syn", 0xC2, handshake, 0),
        ("ack", 0x10, stamp, 0),
        ("sack", 0x10, holes, 0),
        ("data", 0x18, stamp, 100),
        ("explicit", 0x18, stamp + told + bytes([0x21, 0x1F, 0x53, 0x34, 0xE2, 0x7F, 0xFF, 0xFF]), 100),
        ("echo", 0x10, stamp + told + bytes([0x31, 0x1F, 0x53, 0, 0, 3, 0xE8, 0]), 0),
    ):
        offset = (20 + len(options)) // 4
        tcp = struct.pack(">HHIIBBHHH", 40000, 5001, 7, 9, offset << 4, flags, 500, 0, 0) + options
        yield name, _datagram(6, tcp + bytes(payload))
    yield "udp", _datagram(17, struct.pack(">HHHH", 40000, 5001, 28, 0) + bytes(20))


def _datagram(protocol: int, payload: bytes) -> bytes:
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    fields = (0x45, 2, 20 + len(payload), 1, 0x4000, 64, protocol, 0)
    return struct.pack(">BBHHHBBH", *fields) + addresses + payload


def streams() -> Iterator[tuple[str, bytes]]:
    """Yields bytes from which `queue` and `capacity` draw their parameters and packets."""
    for first in range(16):
        yield f"stream-{first}", bytes([0, first]) + bytes((7 * first + 31 * i) % 256 for i in range(400))


FRAMES = {
    "tags": (1, bytes(12) + bytes.fromhex("88a8 0001 8100 0002 8864 11 00 0001 0000 0021")),
    "labels": (1, bytes(12) + bytes.fromhex("8847 00010040 00020140")),
    "gre": (
        1,
        bytes(12)
        + bytes.fromhex("0800 4500 0000 0000 0000 402f 0000")
        + bytes(8)
        + b"\x20\0\x08\0\0\0\0\x09",
    ),
    "vxlan": (
        1,
        bytes(12)
        + bytes.fromhex("0800 4500 0000 0000 0000 4011 0000")
        + bytes(8)
        + bytes.fromhex("1234 12b5 0000 0000 08000000 00000700")
        + bytes(12)
        + b"\x08\0",
    ),
    "wireless": (
        127,
        bytes.fromhex("0000 0800 00000000 8801") + bytes(24) + bytes.fromhex("aaaa03 000000 0800"),
    ),
    "cooked": (276, b"\x08\0" + bytes(18)),
}
"""Link types, and what stands before IP in their frames."""


def captures() -> Iterator[tuple[str, bytes]]:
    """Yields short captures of runs, and the packets of `packets` as pcap."""
    lossy = {"rate": "2 Mbit/s", "buffer": "8 packets", "loss": 0.05, "ack_loss": 0.05}
    with tempfile.TemporaryDirectory() as folder:
        for name, changes in (
            ("sack", {}),
            ("plain", {"timestamps": False, "loss_detection": "newreno"}),
            ("marks", {"ecn": True}),
            ("other", {"direction": "reverse"}),
        ):
            flow = {"algorithm": "reno", "rtt": "20 ms", "bytes": "40 kB"} | changes
            file = Path(folder) / f"{name}.pcapng"
            run({"duration": "2 s", "bottleneck": lossy, "flow": [flow]}, capture=Capture(file, snaplen=80))
            yield name, file.read_bytes()
    records = [
        struct.pack("<IIII", i, 5, len(data), len(data)) + data for i, (_, data) in enumerate(packets())
    ]
    header = struct.pack("<IHHiII", 0xA1B2C3D4, 2, 4, 0, 0, 65535)
    raw = header + struct.pack("<I", 101) + b"".join(records)
    yield "raw", raw
    yield "gzip", gzip.compress(raw)
    yield "xz", lzma.compress(raw)
    for name, (link, before) in FRAMES.items():
        frames = [before + data for _, data in packets()]
        yield (
            name,
            header
            + struct.pack("<I", link)
            + b"".join(struct.pack("<IIII", 1, 5, len(frame), len(frame)) + frame for frame in frames),
        )


def objects() -> Iterator[tuple[str, bytes]]:
    """Yields the objects that `make bpf` has built, if it has."""
    for path in sorted(OBJECTS.glob("*.o")):
        yield path.stem, path.read_bytes()


def texts() -> Iterator[tuple[str, bytes]]:
    """Yields the texts of the scenarios."""
    for path in sorted(SCENARIOS.glob("*.toml")):
        yield path.stem, path.read_bytes()


SEEDS = {
    "plan": plans,
    "reader": texts,
    "packet": packets,
    "queue": streams,
    "capacity": streams,
    "capture": captures,
    "ebpf": objects,
}


def write(folder: Path) -> None:
    """Writes the seeds of every target below a folder."""
    for target, seeds in SEEDS.items():
        own = folder / target
        own.mkdir(parents=True, exist_ok=True)
        for name, data in seeds():
            path = own / f"seed-{name}"
            if not path.exists():
                path.write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
