"""eBPF objects with changes where their structure is: types, names, relocations, headers, instructions.

The places are those of ELF and of docs.kernel.org/bpf/btf.html.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

ODD = (
    0,
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    127,
    128,
    255,
    256,
    65535,
    65536,
    1 << 24,
    1 << 31,
    (1 << 31) - 1,
    (1 << 32) - 1,
)
"""Numbers at which programs go wrong."""
EXTRA_WORDS = {1: 1, 3: 3, 14: 1, 17: 1}
"""The words after a BTF type's first three, by its kind (docs.kernel.org/bpf/btf.html)."""
WORDS_PER_MEMBER = {4: 3, 5: 3, 6: 2, 13: 2, 15: 3, 19: 3}


def sections(file: bytes) -> dict[str, tuple[int, int, int]]:
    """Returns where an ELF file's sections are: (their header, their bytes, how many), by name."""
    (headers,) = struct.unpack_from("<Q", file, 40)
    count, names = struct.unpack_from("<HH", file, 60)
    at = [headers + 64 * number for number in range(count)]
    table = [struct.unpack_from("<IIQQQQ", file, header) for header in at]
    texts = table[names][4]
    return {
        file[texts + row[0] : file.index(0, texts + row[0])].decode(): (header, row[4], row[5])
        for header, row in zip(at, table, strict=True)
    }


def types(file: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields an object's BTF types: (their place, their kind, their 32-bit words)."""
    _, at, _ = sections(file)[".BTF"]
    header, begin, size = struct.unpack_from("<III", file, at + 4)
    place, end = at + header + begin, at + header + begin + size
    while place + 12 <= end:
        (info,) = struct.unpack_from("<I", file, place + 4)
        kind, count = info >> 24 & 31, info & 0xFFFF
        words = 3 + EXTRA_WORDS.get(kind, 0) + WORDS_PER_MEMBER.get(kind, 0) * count
        yield place, kind, words
        place += 4 * words


def strings(file: bytes) -> tuple[int, int]:
    """Returns where the texts of an object's BTF begin, and how many bytes they have."""
    _, at, _ = sections(file)[".BTF"]
    header, _, _, begin, size = struct.unpack_from("<IIIII", file, at + 4)
    return at + header + begin, size


def changed(file: bytes, drawn: random.Random) -> bytes:
    """Returns an object with one to three changes."""
    mutant = bytearray(file)
    parts = sections(file)
    words = [place + 4 * word for place, _, count in types(file) for word in range(count)]
    texts, text_bytes = strings(file)
    kinds = ("type", "string", "ext", "header", "relocation", "section")
    for _ in range(drawn.randint(1, 3)):
        kind = drawn.choices(kinds, (5, 1, 2, 1, 2, 2))[0]
        if kind == "type":
            _put(mutant, drawn.choice(words), drawn)
        elif kind == "string":
            mutant[texts + drawn.randrange(text_bytes)] = drawn.randrange(256)
        elif kind == "ext":
            _, at, size = parts[".BTF.ext"]
            _put(mutant, at + 4 * drawn.randrange(size // 4), drawn)
        elif kind == "header":
            header, _, _ = drawn.choice(list(parts.values()))
            _put(mutant, header + 4 * drawn.randrange(16), drawn)
        else:
            wanted = ".rel" if kind == "relocation" else ""
            _, at, size = drawn.choice(
                [part for name, part in parts.items() if wanted in name and part[2] >= 8]
            )
            _put(mutant, at + 4 * drawn.randrange(size // 4), drawn)
    return bytes(mutant)


def _put(mutant: bytearray, at: int, drawn: random.Random) -> None:
    """Changes a word: to a number at which programs go wrong, by a few, or in a bit or a byte."""
    if at + 4 > len(mutant):
        return
    (word,) = struct.unpack_from("<I", mutant, at)
    how = drawn.randrange(4)
    if how == 0:
        word = drawn.choice(ODD)
    elif how == 1:
        word += drawn.randint(-4, 4)
    elif how == 2:
        word ^= 1 << drawn.randrange(32)
    else:
        byte = 8 * drawn.randrange(4)
        word = word & ~(255 << byte) | drawn.randrange(256) << byte
    struct.pack_into("<I", mutant, at, word & 0xFFFFFFFF)
