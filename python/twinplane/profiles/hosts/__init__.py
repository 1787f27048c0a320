"""Host profiles: how the TCP of a host behaves. A profile is data, a TOML file, which the core checks."""

from pathlib import Path

from ..named import Profiles

HOSTS = Profiles(Path(__file__).parent, "host profile")
names, resolve = HOSTS.names, HOSTS.resolve
