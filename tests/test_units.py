"""Quantities: what people write becomes exact integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twinplane import TwinplaneError, units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50 us", 50_000_000),
        ("1 s", 10**12),
        ("0.1 ns", 100),
        (1.5, 1_500_000_000_000),
        ("2min", 120 * 10**12),
        ("5msec", 5 * 10**9),
        ("7 usecs", 7 * 10**6),
        ("1Sec", 10**12),
    ],
)
def test_times(text: str | float, expected: int) -> None:
    assert units.span_ps(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 Gbit/s", 10**9),
        ("761.9 Mbit/s", 761_900_000),
        ("64kbit/s", 64_000),
        (1e6, 10**6),
        ("10 Gbit", 10**10),
        ("1mbit", 10**6),
        ("1 MBIT", 10**6),
        ("2.5kbit", 2500),
        ("8bit", 8),
        ("1 kibit", 1024),
        ("1 mbit/s", 10**6),
        ("1 Mibit/s", 2**20),
    ],
)
def test_rates(text: str | float, expected: int) -> None:
    assert units.rate_bps(text) == expected


def test_sizes_and_code_points() -> None:
    assert units.size_bytes("1.5 kB") == 1500
    assert units.size_bytes("1 KiB") == 1024
    assert (units.size_bytes("1514b"), units.size_bytes("2kib")) == (1514, 2048)
    assert units.format_time(0.2078, 2) == "208 ms" and units.format_time(0.9996, 3) == "1000 ms"
    assert {units.dscp(name) for name in ("default", "BE", "DF", "DE", "CS0", "0", 0)} == {0}
    assert (units.dscp("EF"), units.dscp("af21"), units.dscp("CS5"), units.dscp(63)) == (46, 18, 40, 63)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: units.rate_bps("1 Gbitps"),
            "rate '1 Gbitps': unknown unit 'Gbitps' (did you mean 'Gbit/s'?)",
        ),
        (
            lambda: units.rate_bps("10 Mbits"),
            "rate '10 Mbits': unknown unit 'Mbits' (did you mean 'Mbit/s'?)",
        ),
        (
            lambda: units.rate_bps("1.5mbps"),
            "rate '1.5mbps': 'mbps' is bytes per second to tc: write '1.5 Mbit/s' for bits, '12 Mbit/s' for"
            " bytes",
        ),
        (
            lambda: units.size_bytes("10k"),
            "size '10k': 'k' is a power of 1024 to tc and of 1000 elsewhere: write '10 KiB' or '10 kB'",
        ),
        (
            lambda: units.size_bytes("1mb"),
            "size '1mb': 'mb' is a power of 1024 to tc and of 1000 elsewhere: write '1 MiB' or '1 MB'",
        ),
        (
            lambda: units.size_bytes("80kbit"),
            "size '80kbit': 'kbit' is bits: a size is in bytes, such as '1500 B' or '10 kB'",
        ),
        (lambda: units.span_ps("-1 s"), "time '-1 s': it cannot be negative"),
        (lambda: units.span_ps("soon"), "time 'soon': a number and a unit are needed, such as '10 ms'"),
        (lambda: units.span_ps(float("nan")), "time nan: a finite number is needed"),
        (
            lambda: units.dscp("EFF"),
            "dscp 'EFF': no such code point: EF, AF11 to AF43, CS0 to CS7, default, LE, VA or 0 to 63"
            " (did you mean 'EF'?)",
        ),
        (lambda: units.dscp("-1"), "dscp '-1': a code point is 0 to 63"),
        (lambda: units.dscp(True), "dscp True: a code point is 0 to 63"),
        (lambda: units.dscp(64), "dscp 64: a code point is 0 to 63"),
        (lambda: units.size_bytes(True), "size True: a number or a text such as '512 B' is needed"),
    ],
)
def test_mistakes_are_named(call: object, sentence: str) -> None:
    with pytest.raises(TwinplaneError) as caught:
        call()  # type: ignore[operator]
    assert str(caught.value) == sentence


@given(st.integers(min_value=0, max_value=10**18))
def test_whole_picoseconds_are_kept(ps: int) -> None:
    assert units.span_ps(f"{ps} ps") == ps
    assert units.span_ps(f"{ps / 1000:.3f} ns" if ps < 2**50 else f"{ps} ps") == ps


@given(st.text(max_size=20))
def test_any_text_is_a_quantity_or_an_error(text: str) -> None:
    for parse in (units.span_ps, units.rate_bps, units.size_bytes):
        try:
            assert parse(text) >= 0
        except TwinplaneError as error:
            assert "\n" not in str(error)


def test_printing() -> None:
    assert units.format_time(0.0001354) == "135.4 us"
    assert units.format_time(None) == "-"
    assert units.format_rate(1.5e9) == "1.5 Gbit/s"


def test_both_signs_for_micro() -> None:
    assert units.span_ps("50 \u00b5s", "x") == units.span_ps("50 \u03bcs", "x") == units.span_ps("50 us", "x")
