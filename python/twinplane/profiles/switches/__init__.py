"""Switch profiles: how long a measured OpenFlow switch takes for what it does. A profile is data, a TOML file."""

from pathlib import Path

from ..named import Profiles

SWITCHES = Profiles(Path(__file__).parent, "switch profile")
names, resolve = SWITCHES.names, SWITCHES.resolve
