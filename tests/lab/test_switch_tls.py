"""A switch in a lab and controllers over TLS: Open vSwitch's tools, servers of Python's, and wrong ones."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.needs import need
from twinplane.lab import Lab, looking, netns, processes

from .conftest import NetworkFile
from .support import refused

FOLDER = Path(__file__).resolve().parent.parent / "support" / "certificates"
PORT = 6654
SECURED = """\
name: {name}
nodes:
  s1:
    kind: switch
    prefix: 10.1.0.0/24
    controllers: [CONTROLLERS]
    tls:
      private_key: FOLDER/switch-key.pem
      certificate: FOLDER/switch-cert.pem
      ca_cert: FOLDER/ca-cert.pem
    datapath_id: 18
  a:  {kind: host, address: 10.1.0.11/24}
  b:  {kind: host, address: 10.1.0.12/24}
links:
  - [a, s1]
  - [s1, b]
"""


def secured(*controllers: str) -> str:
    named = ", ".join(f'"{one}"' for one in controllers)
    return SECURED.replace("FOLDER", str(FOLDER)).replace("CONTROLLERS", named)


def files(name: str) -> tuple[str, str]:
    return str(FOLDER / f"{name}-cert.pem"), str(FOLDER / f"{name}-key.pem")


def context(name: str, side: int = ssl.PROTOCOL_TLS_SERVER) -> ssl.SSLContext:
    """What an end shows that has this certificate, and verifies the other by the same authority."""
    made = ssl.SSLContext(side)
    made.check_hostname = False
    made.load_cert_chain(*files(name))
    made.load_verify_locations(FOLDER / "ca-cert.pem")
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def datapath_id(connection: socket.socket) -> int:
    """Greets a switch in version 1.3 and asks it who it is."""
    connection.sendall(struct.pack("!BBHI", 4, 0, 8, 1) + struct.pack("!BBHI", 4, 5, 8, 2))
    came = b""
    while True:
        while len(came) < 8 or len(came) < struct.unpack_from("!H", came, 2)[0]:
            part = connection.recv(4096)
            assert part, "the switch has closed it"
            came += part
        kind, length = struct.unpack_from("!BH", came, 1)
        if kind == 6:
            return int(struct.unpack_from("!Q", came, 8)[0])
        came = came[length:]


class Controllers:
    """Servers in the namespace of a switch, one at each address of its loopback."""

    def __init__(self, lab: Lab) -> None:
        self.namespace = str(lab.node("s1").namespace)
        self.sockets: list[socket.socket] = []
        self.heard: dict[str, int | str] = {}

    def add(self, address: str, serve: Callable[[socket.socket], int | str]) -> None:
        """`serve` has a connection to itself; what it finds is kept for the address."""
        with netns.inside(self.namespace):
            listener = socket.create_server((address, PORT))
        self.sockets.append(listener)

        def work() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                self.sockets.append(connection)
                connection.settimeout(10)
                try:
                    self.heard[address] = serve(connection)
                except OSError as error:
                    self.heard[address] = str(error)

        threading.Thread(target=work, daemon=True).start()

    def over_tls(self, address: str, name: str) -> None:
        """One that greets the switch, with this certificate."""

        def serve(connection: socket.socket) -> int:
            wrapped = context(name).wrap_socket(connection, server_side=True)
            self.sockets.append(wrapped)
            return datapath_id(wrapped)

        self.add(address, serve)

    def close(self) -> None:
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def rows(lab: Lab) -> dict[str, tuple[str, str | None]]:
    """State of each controller, and why it is so."""
    table = lab.node("s1").ask("table", "controllers")
    return {
        name: (state, why)
        for name, state, why in zip(table["controller"], table["state"], table["why"], strict=True)
    }


def events(lab: Lab, name: str) -> list[dict[str, str]]:
    told = lab.node("s1").ask("table", "events")["event"]
    return [event for event in told if event["event"] == name]


def without_tls(connection: socket.socket) -> str:
    connection.sendall(b"\x04\0\0\x08\0\0\0\x01")
    return "greeted"


def closing(connection: socket.socket) -> str:
    connection.recv(4096)
    connection.shutdown(socket.SHUT_WR)
    return "closed"


WRONG: dict[str, tuple[str, Callable[[socket.socket], str]]] = {
    "127.0.0.4": ("what it says is not TLS", without_tls),
    "127.0.0.5": ("it has closed the connection before TLS was set up", closing),
}


def test_a_switch_takes_the_controllers_that_it_knows_and_says_of_others_why_not(
    network_file: NetworkFile,
) -> None:
    right, silent = "127.0.0.1", "127.0.0.6"
    others = {"127.0.0.2": "stranger", "127.0.0.3": "expired"}
    addresses = [right, *others, *WRONG, silent]
    file = network_file(secured(*(f"ssl:{address}:{PORT}" for address in addresses)))
    with Lab(file) as lab, contextlib.closing(Controllers(lab)) as controllers:
        controllers.add(silent, lambda end: "silent" if end.recv(1) else "gone")
        for address, name in others.items():
            controllers.over_tls(address, name)
        for address, (_, serve) in WRONG.items():
            controllers.add(address, serve)
        controllers.over_tls(right, "controller")
        expected = {
            f"ssl:127.0.0.2:{PORT}": "its certificate is signed by none of the authorities in ca_cert",
            f"ssl:127.0.0.3:{PORT}": "its certificate has expired",
            **{f"ssl:{address}:{PORT}": why for address, (why, _) in WRONG.items()},
        }

        def is_known() -> bool:
            found = rows(lab)
            right_is_up = found[f"ssl:{right}:{PORT}"] == ("up", None)
            return right_is_up and all(found[name][1] == why for name, why in expected.items())

        assert processes.wait_until(is_known, 15, 0.1), rows(lab)
        assert controllers.heard[right] == 18, controllers.heard
        assert all(rows(lab)[name][0] != "up" for name in expected)
        told = {(event["controller"], event["why"]) for event in events(lab, "controller-failed")}
        assert set(expected.items()) <= told, told
        problems = list(looking.details(lab.name)["problems"])
        assert any("ssl:127.0.0.3:6654" in said and "has expired" in said for said in problems), problems
        assert not any(f"ssl:{right}" in said for said in problems), problems


def ofctl(lab: Lab, *words: str, name: str = "controller", check: bool = True) -> tuple[str, str]:
    """What ovs-ofctl says over TLS, with this certificate."""
    certificate, key = files(name)
    of = ("ovs-ofctl", "-O", "OpenFlow13", "-p", key, "-c", certificate, "-C", str(FOLDER / "ca-cert.pem"))
    command, *rest = words
    said = lab.exec("s1", *of, "-t", "5", command, f"ssl:127.0.0.1:{PORT}", *rest, check=check)
    return said.stdout, said.stderr


def test_open_vswitch_reads_and_writes_over_tls_and_whoever_is_wrong_is_turned_away(
    network_file: NetworkFile,
) -> None:
    need("ovs-ofctl", "ping")
    with Lab(network_file(secured(f"pssl:{PORT}"))) as lab:
        namespace = str(lab.node("s1").namespace)
        with netns.inside(namespace):
            half_open = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(70)]
        assert "dpid:0000000000000012" in ofctl(lab, "show")[0]
        ofctl(lab, "add-flow", "priority=1,actions=FLOOD")

        def is_answered() -> bool:
            said = lab.exec("a", "ping", "-c", "1", "-W", "1", "10.1.0.12", check=False)
            return ", 0% packet loss" in said.stdout

        assert processes.wait_until(is_answered, 15, 0.1)
        with netns.inside(namespace):
            older = context("controller", ssl.PROTOCOL_TLS_CLIENT)
            older.maximum_version = ssl.TLSVersion.TLSv1_2
            with older.wrap_socket(socket.create_connection(("127.0.0.1", PORT), 10)) as connection:
                assert connection.version() == "TLSv1.2" and datapath_id(connection) == 18
        assert ofctl(lab, "show", name="stranger", check=False)[0] == ""
        listening = rows(lab)[f"pssl:{PORT}"]
        assert listening[0] == "listening" and str(listening[1]).endswith(
            "its certificate is signed by none of the authorities in ca_cert"
        )
        with netns.inside(namespace), socket.create_connection(("127.0.0.1", PORT), 10) as plain:
            plain.sendall(b"\x04\0\0\x08\0\0\0\x01")
            with contextlib.suppress(ConnectionError):
                while plain.recv(4096):
                    pass
        assert str(rows(lab)[f"pssl:{PORT}"][1]).endswith("what it says is not TLS")
        assert "actions=FLOOD" in ofctl(lab, "dump-flows")[0]
        first, *_ = events(lab, "controller-refused")
        assert first["controller"] == f"pssl:{PORT}" and first["from"].startswith("127.0.0.1:")
        for one in half_open:
            one.close()


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("switch-key.pem", "nothing.pem", 8, "tls: private_key: "),
        ("switch-key.pem", "encrypted-key.pem", 8, "the key is encrypted"),
        ("switch-key.pem", "controller-key.pem", 8, "this key does not belong to the certificate in"),
        ("switch-cert.pem", "make.sh", 9, "there is no certificate in PEM form in it"),
        ("switch-cert.pem", "../certificates", 9, "it is no PEM file"),
        ("/ca-cert.pem", "/switch-key.pem", 10, "there is no certificate in PEM form in it"),
        ("certificate:", "cert:", 9, "unknown field 'cert'"),
    ],
)
def test_files_that_do_not_do_are_refused_before_the_run(
    tmp_path: Path, old: str, new: str, line: int, sentence: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(secured("ssl:127.0.0.1").replace("{name}", "wrong").replace(old, new))
    said = refused("lab", "check", str(file))
    assert f"wrong.yaml:{line}:" in said and sentence in said, said


def test_tls_needs_files_and_the_tcp_of_the_kernel(tmp_path: Path) -> None:
    text = secured("ptcp:6653", "ssl:127.0.0.1").replace("{name}", "wrong")
    file = tmp_path / "wrong.yaml"
    rest = [line for line in text.splitlines() if ".pem" not in line and "tls:" not in line]
    file.write_text("\n".join(rest))
    said = refused("lab", "check", str(file))
    assert "wrong.yaml:6:" in said and "is over TLS: 'tls' has to say private_key" in said, said
    managed = "  c:  {kind: host, address: 10.9.0.2/30}\nlinks:\n"
    link = "  - {endpoints: [s1, c], addresses: [10.9.0.1/30, 10.9.0.2/30]}\n"
    file.write_text(text.replace("links:\n", managed) + link)
    said = refused("lab", "check", str(file))
    assert "TLS is over TCP of the kernel, and not over that of a management port" in said, said
