"""What one point of an experiment runs on: its networks, at the place where they run."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...measure.calibration import Spread

if TYPE_CHECKING:
    from ...measure.calibration import Search
    from ...network import Network
    from .places import Place


class Ground:
    """The networks of one point, and their place, which stands as long as this is used as a context.

    `name` begins every error; `build` makes the experiment's network for parameters of its own. An experiment
    overrides what is different in real time: `network`, `virtual`, `probes`, `through`.
    """

    def __init__(self, name: str, build: Callable[[Any], Network], place: Place) -> None:
        self.name, self.build, self.place = name, build, place

    def __enter__(self) -> Ground:
        """Bring the place up."""
        self.place.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tear the place down, whatever happened there."""
        self.place.down()

    def network(self, parameters: Any) -> Network:
        """The network by the clock, or what of it is in this process; each time afresh."""
        made = self.build(parameters)
        if self.place.whole:
            made.log_signals()
        return self.place.live(made)

    def virtual(self, parameters: Any) -> Network:
        """Its twin in virtual time."""
        return self.build(parameters)

    def end(self, network: Network, parameters: Any) -> dict[str, Any]:
        """Leave nothing behind at a system under test that stays, and say as figures how that went."""
        return {}

    def probes(self, parameters: Any) -> tuple[Network, float] | None:
        """The network with a few logged probes instead of its traffic, and by when they arrived, in seconds.

        They shall go where the traffic goes, so seldom that no queue builds up. None: calibration back to
        back is enough, because the way holds nothing that calibration does not see.
        """
        return None

    def path(self, parameters: Any) -> Spread | None:
        """What probes along the idle path take beyond virtual time, asked for after the run; None without."""
        real, virtual = self.probes(parameters), self.probes(parameters)
        if real is None or virtual is None:
            return None
        self.place.live(real[0])
        took = _delays(*real)
        beyond = sorted(took[probe] - delay for probe, delay in _delays(*virtual).items() if probe in took)
        return Spread.of_values(beyond) if beyond else None

    def through(self, parameters: Any, rate_bps: float) -> Search:
        """Find the highest rate without loss through the system under test, at most `rate_bps`."""
        raise TwinplaneError(f"{self.name}: --rate auto: its parameters set no rate of all traffic")


def _delays(network: Network, until_s: float) -> dict[tuple[int, int], float]:
    """Run to the end; delays in seconds of the logged packets that arrived, by flow and number."""
    network.run(until=until_s)
    found = network.columns("packets")
    network.close()
    rows = zip(*(found[key] for key in ("flow", "sequence", "delay_ps")), strict=True)
    return {(flow, number): delay / 1e12 for flow, number, delay in rows if delay is not None}
