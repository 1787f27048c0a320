"""The list of all scenarios; each is a function that takes a bench and notes failures on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..bench import Bench, Options
from ..codec import CodecError

Body = Callable[[Bench], None]


@dataclass(frozen=True)
class Scenario:
    """One exchange: its name, what the router must be set up with, and the exchange itself."""

    name: str
    body: Body
    options: Options = field(default_factory=Options)
    originates: bool = False

    def run(self, bench: Bench) -> list[str]:
        """Play it; the list of failures is empty if the router did everything right."""
        try:
            if self.options.key is not None:
                bench.warm_up()
            self.body(bench)
            bench.run(0.01)
            bench.invariants()
        except (CodecError, LookupError) as error:
            bench.failures.append(f"cannot go on: {type(error).__name__}: {error}")
        return bench.failures

    @property
    def sections(self) -> str:
        """The docstring, which cites the RFCs."""
        return self.body.__doc__ or ""


SCENARIOS: dict[str, Scenario] = {}


def scenario(options: Options | None = None, originates: bool = False) -> Callable[[Body], Body]:
    """Enter a function into the list under its module's and its own name."""

    def enter(body: Body) -> Body:
        name = f"{body.__module__.rsplit('.', 1)[-1]}.{body.__name__}"
        SCENARIOS[name] = Scenario(name, body, options or Options(), originates)
        return body

    return enter
