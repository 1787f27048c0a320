"""Quantities as people write them: ``"1 Gbit/s"``, ``"50 us"``, or plain numbers in base units.

Base units are seconds, bits per second and bytes. What goes to the core is an integer: picoseconds,
bits per second, bytes; decimal arithmetic keeps ``"0.1 us"`` exact.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from .errors import TwinplaneError, suggest

Quantity = str | int | float
"""A number in base units, or a text with a unit."""

PS_PER_S = 10**12
LIMIT = 2**63
"""What fits the core's integers: 106 days in picoseconds."""

TIME_UNITS: dict[str, Fraction] = {
    "ps": Fraction(1, 10**12),
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}
RATE_UNITS: dict[str, Fraction] = {
    f"{prefix}{word}": Fraction(factor)
    for prefix, factor in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
    for word in ("bit/s", "bps")
}
SIZE_UNITS: dict[str, Fraction] = {
    "B": Fraction(1),
    "byte": Fraction(1),
    "bytes": Fraction(1),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "GB": Fraction(10**9),
    "KiB": Fraction(2**10),
    "MiB": Fraction(2**20),
    "GiB": Fraction(2**30),
}

# RFC 2474 (class selectors), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VOICE-ADMIT), RFC 8622 (LE).
DSCP: dict[str, int] = {
    "BE": 0,
    "DF": 0,
    "LE": 1,
    "EF": 46,
    "VA": 44,
    **{f"CS{n}": 8 * n for n in range(8)},
    **{f"AF{group}{drop}": 8 * group + 2 * drop for group in range(1, 5) for drop in range(1, 4)},
}

_FORM = re.compile(r"\s*([-+]?[0-9][0-9_.,]*(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9]+)\s*(\S.*?)?\s*")


def _number(text: str, whole: str, what: str) -> Fraction:
    try:
        return Fraction(Decimal(text.replace("_", "")))
    except (InvalidOperation, ValueError):
        raise TwinplaneError(f"{what} {whole!r}: {text!r} is not a number") from None


def _parse(value: Quantity, units: dict[str, Fraction], what: str, example: str) -> Fraction:
    if isinstance(value, bool):
        raise TwinplaneError(f"{what} {value!r}: a number or a text such as {example!r} is needed")
    if isinstance(value, int | float):
        try:
            return Fraction(Decimal(repr(value)))
        except (InvalidOperation, ValueError, OverflowError):
            raise TwinplaneError(f"{what} {value!r}: a finite number is needed") from None
    if not isinstance(value, str):
        raise TwinplaneError(f"{what} {value!r}: a number or a text such as {example!r} is needed")
    match = _FORM.fullmatch(value)
    if match is None:
        raise TwinplaneError(f"{what} {value!r}: a number and a unit are needed, such as {example!r}")
    number, unit = _number(match[1], value, what), match[2]
    if unit is None:
        return number
    if unit not in units:
        hint = suggest(unit, units) or f" (one of {', '.join(units)})"
        raise TwinplaneError(f"{what} {value!r}: unknown unit {unit!r}{hint}")
    return number * units[unit]


def _integer(value: Fraction, given: Quantity, what: str) -> int:
    if value < 0:
        raise TwinplaneError(f"{what} {given!r}: it cannot be negative")
    if value >= LIMIT:
        raise TwinplaneError(f"{what} {given!r}: it is too large")
    return round(value)


def span_ps(value: Quantity, what: str = "time") -> int:
    """A time in whole picoseconds; numbers are seconds."""
    return _integer(_parse(value, TIME_UNITS, what, "10 ms") * PS_PER_S, value, what)


def rate_bps(value: Quantity, what: str = "rate") -> int:
    """A rate in whole bits per second; numbers are bits per second."""
    return _integer(_parse(value, RATE_UNITS, what, "1 Gbit/s"), value, what)


def size_bytes(value: Quantity, what: str = "size") -> int:
    """A size in whole bytes; numbers are bytes."""
    return _integer(_parse(value, SIZE_UNITS, what, "512 B"), value, what)


def dscp(value: str | int) -> int:
    """A DiffServ code point, by name (``"EF"``, ``"AF21"``, ``"CS5"``) or number (0 to 63)."""
    if isinstance(value, str) and not value.strip().isdigit():
        name = value.strip().upper()
        if name in ("DEFAULT", "DE"):
            return 0
        if name not in DSCP:
            raise TwinplaneError(f"dscp {value!r}: no such code point{suggest(name, DSCP)}")
        return DSCP[name]
    number = int(value)
    if not 0 <= number <= 63:
        raise TwinplaneError(f"dscp {value!r}: a code point is 0 to 63")
    return number


def seconds(ps: int) -> float:
    """Picoseconds as seconds."""
    return ps / PS_PER_S


def _scaled(value: float, steps: tuple[tuple[float, str], ...], digits: int) -> str:
    factor, unit = next(((f, u) for f, u in steps if abs(value) >= f), steps[-1])
    figure = value / factor
    text = f"{figure:.{digits}g}"
    return f"{figure:.0f} {unit}" if "e+" in text else f"{text} {unit}"


def format_time(value_s: float | None, digits: int = 4) -> str:
    """Seconds with the unit that suits them."""
    if value_s is None:
        return "-"
    if value_s == 0:
        return "0 s"
    return _scaled(value_s, ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps")), digits)


def format_rate(value_bps: float | None, digits: int = 4) -> str:
    """Bits per second with the unit that suits them."""
    if value_bps is None:
        return "-"
    if value_bps == 0:
        return "0 bit/s"
    steps = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
    return _scaled(value_bps, steps, digits)
