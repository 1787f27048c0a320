"""Cells that an IP packet takes under three encapsulations: the tables of atm-encapsulation.md.

`python docs/models/atm_encapsulation.py` prints them; `--check` fails if the page says something else;
`--all` prints the cells of every size, as CSV.
"""

from __future__ import annotations

import sys
from pathlib import Path

PAYLOAD, TRAILER = 48, 8
HEADERS = {"bare": 0, "shim": 4, "LLC/SNAP": 8}
"""Bytes in front of a packet: RFC 2684, 6.1; RFC 3035, 9; RFC 2684, 5.1."""
SIZES = (40, 41, 52, 84, 128, 256, 512, 552, 576, 1024, 1480, 1492, 1500, 4352, 4470, 9180)
SMALLEST, LARGEST = 40, 9180
TCP_IP = 40
"""Bytes of the headers of TCP and IP without options."""


def cells(packet: int, header: int) -> int:
    """Cells of an IP packet of so many bytes, with so many bytes in front, in a PDU of AAL5."""
    return -(-(packet + header + TRAILER) // PAYLOAD)


def mbps(cells_per_s: int, packet: int, header: int, counted: int) -> float:
    """Mbit/s of `counted` bytes a packet, where nothing but such packets fills a path of so many cells/s."""
    return cells_per_s / cells(packet, header) * counted * 8 / 1e6


def sizes_with_gain(fewer: str, more: str) -> int:
    """How many sizes of IP packets, 40 to 9180, take a cell less under one than under the other."""
    sizes = range(SMALLEST, LARGEST + 1)
    return sum(cells(size, HEADERS[fewer]) < cells(size, HEADERS[more]) for size in sizes)


def sizes_that_fit(bare: float, llc: float) -> list[int]:
    """Sizes of IP packets whose TCP data, at 4750 cells/s, round to both published figures, in Mbit/s."""
    found = []
    for size in range(SMALLEST + 1, 1501):
        with_tags, without = (mbps(4750, size, HEADERS[name], size - TCP_IP) for name in ("bare", "LLC/SNAP"))
        if (round(with_tags, 2), round(without, 2)) == (bare, llc):
            found.append(size)
    return found


def every_size() -> list[str]:
    """Cells of each size of IP packets from 40 to 9180, as CSV."""
    out = ["ip_bytes,bare,shim,llc_snap"]
    for size in range(SMALLEST, LARGEST + 1):
        out.append(",".join(str(value) for value in (size, *(cells(size, h) for h in HEADERS.values()))))
    return out


def by_remainder() -> list[str]:
    """What each encapsulation takes, by what a packet and the trailer leave in a division by 48 bytes.

    It is the same for all sizes with the same remainder, which is checked: so this table has every size.
    """
    found: dict[tuple[int, ...], list[int]] = {}
    for remainder in (*range(1, PAYLOAD), 0):
        sizes = [size for size in range(SMALLEST, LARGEST + 1) if (size + TRAILER) % PAYLOAD == remainder]
        more = {tuple(cells(size, h) - cells(size, 0) for h in HEADERS.values()) for size in sizes}
        assert len(more) == 1, remainder
        found.setdefault(more.pop(), []).append(remainder)
    out = ["| (IP bytes + 8) mod 48 | bare | shim | LLC/SNAP | of 48 |", "|---|---:|---:|---:|---:|"]
    for more_cells, remainders in found.items():
        first, last = remainders[0], remainders[-1]
        words = f"{first} to {last}" if last else f"{first} to {remainders[-2]}, or 0"
        names = " | ".join("k" if one == 0 else f"k + {one}" for one in more_cells)
        out.append(f"| {words} | {names} | {len(remainders)} |")
    return out


def lines() -> list[str]:
    """All tables, in Markdown."""
    out = ["| IP bytes | bare | shim | LLC/SNAP |", "|---:|---:|---:|---:|"]
    for size in SIZES:
        out.append(f"| {size} | " + " | ".join(str(cells(size, h)) for h in HEADERS.values()) + " |")
    out += ["", *by_remainder()]
    out += ["", "| one cell less | than | sizes of 9,141 |", "|---|---|---:|"]
    for fewer, more in (("bare", "LLC/SNAP"), ("bare", "shim"), ("shim", "LLC/SNAP")):
        out.append(f"| {fewer} | {more} | {sizes_with_gain(fewer, more)} |")
    out += ["", "| cells/s | IP at 1500 bytes, Mbit/s | TCP data of 1460, Mbit/s |", "|---:|---:|---:|"]
    for rate in (4750, 4515):
        out.append(f"| {rate} | {mbps(rate, 1500, 0, 1500):.3f} | {mbps(rate, 1500, 0, 1460):.3f} |")
    fitting = ", ".join(map(str, sizes_that_fit(1.75, 1.69)))
    out += ["", "| IP bytes that fit 1.75 bare and 1.69 with LLC/SNAP |", "|---|", f"| {fitting} |"]
    return out


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.exit(print("\n".join(every_size())))
    if "--check" in sys.argv:
        page = Path(__file__).with_name("atm-encapsulation.md").read_text(encoding="utf-8").splitlines()
        missing = [line for line in lines() if line and line not in page]
        sys.exit("\n".join(["atm-encapsulation.md does not say:", *missing]) if missing else 0)
    print("\n".join(lines()))
