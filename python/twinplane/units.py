"""Quantities as people write them: ``"1 Gbit/s"``, ``"50 us"``, or plain numbers in base units.

Base units are seconds, bits per second and bytes. What goes to the core is an integer: picoseconds,
bits per second, bytes; decimal arithmetic keeps ``"0.1 us"`` exact.

Units of Linux's tc are taken where they mean the same here, in upper or lower case as tc takes them:
``10mbit``, ``1500b``, ``5msec``. Where they mean something else (``mbps`` is bytes per second to tc, ``10k``
is 10,240 bytes) they are refused with what to write instead.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
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
    "\u00b5s": Fraction(1, 10**6),  # the sign for micro
    "\u03bcs": Fraction(1, 10**6),  # the Greek letter, which looks the same
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
RATE_UNITS: dict[str, Fraction] = {
    **{f"{prefix}bit/s": Fraction(factor) for prefix, factor in {**_PREFIXES, **_BINARY}.items()},
    # A cell of ATM has 53 bytes.
    "cells/s": Fraction(424),
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

TC_TIMES: dict[str, Fraction] = {
    f"{prefix}{word}": Fraction(1, parts)
    for prefix, parts in (("", 1), ("m", 10**3), ("u", 10**6), ("n", 10**9))
    for word in ("s", "sec", "secs")
}
TC_RATES: dict[str, Fraction] = {
    name.lower(): factor for unit, factor in RATE_UNITS.items() for name in (unit, unit.removesuffix("/s"))
}
TC_SIZES: dict[str, Fraction] = {
    name.lower(): factor for name, factor in SIZE_UNITS.items() if name in ("B", "KiB", "MiB", "GiB")
}
"""Units as tc(8) has them, which takes them in upper and lower case, as far as they mean the same here."""

# RFC 2474 (class selectors), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VOICE-ADMIT), RFC 8622 (LE).
DSCP: dict[str, int] = {
    "DEFAULT": 0,
    "BE": 0,
    "DE": 0,
    "DF": 0,
    "LE": 1,
    "EF": 46,
    "VA": 44,
    **{f"CS{n}": 8 * n for n in range(8)},
    **{f"AF{group}{drop}": 8 * group + 2 * drop for group in range(1, 5) for drop in range(1, 4)},
}
"""Code points by the names of their behaviours, in capitals (RFC 2474, 2597, 3246, 5865, 8622)."""
DSCP_FORMS = "EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63"
"""How one is written."""

_FORM = re.compile(r"\s*([-+]?[0-9][0-9_.,]*(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9]+)\s*(\S.*?)?\s*")


def _number(text: str, whole: str, what: str) -> Fraction:
    try:
        return Fraction(Decimal(text.replace("_", "")))
    except (InvalidOperation, ValueError):
        raise TwinplaneError(f"{what} {whole!r}: {text!r} is not a number") from None


@dataclass(frozen=True)
class _Kind:
    """A kind of quantity: its units, those of tc in lower case, and what is wrong with others."""

    units: dict[str, Fraction]
    tc: dict[str, Fraction]
    example: str
    refused: Callable[[str, str], str | None]

    def factor(self, number: str, unit: str) -> Fraction:
        """What a unit stands for; `ValueError` says why it does not."""
        found = self.units.get(unit) or self.tc.get(unit.lower())
        if found is None:
            raise ValueError(self.refused(number, unit) or f"unknown unit {unit!r}{self.hint(unit)}")
        return found

    def hint(self, unit: str) -> str:
        """The unit that is nearest, whatever the case of its letters; or all."""
        known = {name.lower(): name for name in self.units}
        found = difflib.get_close_matches(unit.lower(), known, n=1, cutoff=0.5)
        return f" (did you mean '{known[found[0]]}'?)" if found else f" (one of {', '.join(self.units)})"


def _any_unit(number: str, unit: str) -> None:
    return None


def _no_rate(number: str, unit: str) -> str | None:
    """Of ``mbps`` and the like: bits to most people, bytes to tc."""
    found = re.fullmatch("([kmgt]?)(i?)bps", unit.lower())
    if found is None:
        return None
    prefix = f"{found[1].upper()}i" if found[2] else {"": "", "k": "k"}.get(found[1], found[1].upper())
    bits = f"{number} {prefix}bit/s"
    try:
        eightfold = (Decimal(number.replace("_", "")) * 8).normalize()
        octets = f"{eightfold:f} {prefix}bit/s"
    except InvalidOperation:
        octets = "8 times that"
    return f"{unit!r} is bytes per second to tc: write '{bits}' for bits, '{octets}' for bytes"


def _no_size(number: str, unit: str) -> str | None:
    """Of ``k`` and ``kb``, where tc counts 1024 and others 1000; and of bits."""
    low = unit.lower()
    if re.fullmatch("[kmgt]?i?bits?", low):
        return f"{unit!r} is bits: a size is in bytes, such as '1500 B' or '10 kB'"
    found = re.fullmatch("([kmg])b?", low)
    if found is None:
        return None
    letter = found[1].upper()
    decimal, binary = "kB" if letter == "K" else f"{letter}B", f"{letter}iB"
    return (
        f"{unit!r} is a power of 1024 to tc and of 1000 elsewhere: write '{number} {binary}' or"
        f" '{number} {decimal}'"
    )


TIME = _Kind(TIME_UNITS, TC_TIMES, "10 ms", _any_unit)
RATE = _Kind(RATE_UNITS, TC_RATES, "1 Gbit/s", _no_rate)
SIZE = _Kind(SIZE_UNITS, TC_SIZES, "512 B", _no_size)


def _parse(value: Quantity, kind: _Kind, what: str) -> Fraction:
    example = kind.example
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
    try:
        return number * kind.factor(match[1], unit)
    except ValueError as error:
        raise TwinplaneError(f"{what} {value!r}: {error}") from None


def _integer(value: Fraction, given: Quantity, what: str) -> int:
    if value < 0:
        raise TwinplaneError(f"{what} {given!r}: it cannot be negative")
    if value >= LIMIT:
        raise TwinplaneError(f"{what} {given!r}: it is too large")
    return round(value)


def span_ps(value: Quantity, what: str = "time") -> int:
    """A time in whole picoseconds; numbers are seconds."""
    return _integer(_parse(value, TIME, what) * PS_PER_S, value, what)


def rate_bps(value: Quantity, what: str = "rate") -> int:
    """A rate in whole bits per second; numbers are bits per second."""
    return _integer(_parse(value, RATE, what), value, what)


def limit_bps(rate: str | float) -> int:
    """The rate of a link in bit/s; 0 of one that has no limit (``none``)."""
    return 0 if rate == "none" else rate_bps(rate)


def size_bytes(value: Quantity, what: str = "size") -> int:
    """A size in whole bytes; numbers are bytes."""
    return _integer(_parse(value, SIZE, what), value, what)


def dscp(value: str | int) -> int:
    """A DiffServ code point, by the name of its behaviour (``"EF"``, ``"default"``) or number (0 to 63)."""
    found = code_point(value)
    if found is not None:
        return found
    if isinstance(value, str) and not value.strip().lstrip("-").isdecimal():
        hint = suggest(value.strip().upper(), DSCP)
        raise TwinplaneError(f"dscp {value!r}: no such code point: {DSCP_FORMS}{hint}")
    raise TwinplaneError(f"dscp {value!r}: a code point is 0 to 63")


def code_point(value: object) -> int | None:
    """What `dscp` finds, or none if it is no code point."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= 63 else None
    if not isinstance(value, str):
        return None
    text = value.strip().upper()
    if text in DSCP:
        return DSCP[text]
    digits = text.removeprefix("DSCP ").strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and int(digits) <= 63 else None


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
