"""Switch profiles: how long an OpenFlow switch takes for what it does. A profile is a TOML file."""

from pathlib import Path

from ..named import Profiles

SWITCHES = Profiles(Path(__file__).parent, "switch profile")
names, resolve = SWITCHES.names, SWITCHES.resolve
