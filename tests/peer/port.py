"""What the naive peer needs from the world: a port, and a clock that somebody else turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Port(Protocol):
    """One end of a link. Frames have no check sequence; times are virtual seconds."""

    def send(self, frame: bytes) -> None:
        """Put a frame on the link at the current virtual time."""

    def receive(self) -> list[tuple[float, bytes]]:
        """Every frame that arrived since the last call, with its time of arrival."""

    def now(self) -> float:
        """The current virtual time."""

    def run(self, seconds: float) -> None:
        """Let virtual time pass, for every port of the same network."""


class Wire:
    """Two ports back to back in memory; a frame arrives `delay` after it was sent."""

    def __init__(self, clock: Clock, delay: float = 1e-5) -> None:
        self.left = WirePort(clock, delay)
        self.right = WirePort(clock, delay)
        self.left.other, self.right.other = self.right, self.left


class Clock:
    """Virtual time that several wires share, and what else must happen as it passes."""

    STEP = 0.001

    def __init__(self) -> None:
        self.time = 0.0
        self.ticks: list[Callable[[], None]] = []

    def run(self, seconds: float) -> None:
        """Pass time in small steps, with a tick of everybody after each."""
        end = self.time + seconds
        while self.time < end - 1e-12:
            # Long waits go in larger steps; nobody here cares for the exact time.
            step = self.STEP if seconds <= 0.01 else 0.02
            self.time = min(end, self.time + step)
            for tick in self.ticks:
                tick()


class WirePort:
    """One end of a `Wire`."""

    def __init__(self, clock: Clock, delay: float) -> None:
        self.clock = clock
        self.delay = delay
        self.other: WirePort | None = None
        self.arriving: list[tuple[float, bytes]] = []
        self.cut = False

    def send(self, frame: bytes) -> None:
        """Put a frame on the wire, unless it is cut."""
        if self.other is not None and not self.cut:
            self.other.arriving.append((self.clock.time + self.delay, frame))

    def receive(self) -> list[tuple[float, bytes]]:
        """What has arrived by now."""
        here = [item for item in self.arriving if item[0] <= self.clock.time]
        self.arriving = [item for item in self.arriving if item[0] > self.clock.time]
        return here

    def now(self) -> float:
        """The wire's clock."""
        return self.clock.time

    def run(self, seconds: float) -> None:
        """Turn the clock."""
        self.clock.run(seconds)


class Timers:
    """A list of (when, what); the whole list is read every time."""

    def __init__(self) -> None:
        self.pending: list[tuple[float, Callable[[], None]]] = []

    def at(self, when: float, action: Callable[[], None]) -> None:
        """Do `action` once, at `when` or soon after."""
        self.pending.append((when, action))

    def fire(self, now: float) -> None:
        """Do what is due."""
        due = [item for item in self.pending if item[0] <= now]
        self.pending = [item for item in self.pending if item[0] > now]
        for _, action in sorted(due, key=lambda item: item[0]):
            action()
