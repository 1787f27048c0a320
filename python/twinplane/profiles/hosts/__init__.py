"""Host profiles: how the TCP of a host behaves. A profile is data, a TOML file; the core checks what it says."""

from pathlib import Path

from ..named import Profiles

HOSTS = Profiles(Path(__file__).parent, "host profile")
names, resolve = HOSTS.names, HOSTS.resolve
