"""The port of qmcomm that an endpoint mapper returns; a server that is not an endpoint mapper gives one error line."""

from __future__ import annotations

import socket
import threading
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from harness.errors import SutUnavailable, UsageError
from harness.sut import endpoint_mapper
from harness.sut.endpoint_mapper import ask_qmcomm_port
from harness.sut.external_driver import ExternalDriver
from harness.sut.sut_file import SutFile, parse_sut_file
from harness.wire.rpc import bind_nak, fault
from reference_qm.rpc import CallReceived, RpcServer, SendBytes
from reference_qm.rpc.interfaces import EPT, QM2QM, QMCOMM
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy

HERE = "127.0.48.1"
NOW = Now(0, 0)


class Server:
    """A server at the port of the endpoint mapper."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.listener = socket.create_server((HERE, 0))
        monkeypatch.setattr(endpoint_mapper, "MAPPER_PORT", self.listener.getsockname()[1])

    def says(self, *answers: bytes) -> None:
        """Send one of the answers each time that bytes arrive, then close the connection."""

        def speak() -> None:
            with self.listener, self.listener.accept()[0] as connection:
                for answer in answers:
                    connection.recv(65_536)
                    connection.sendall(answer)

        threading.Thread(target=speak, daemon=True).start()

    def maps(self, *endpoints: MappedEndpoint) -> None:
        """Answer as the endpoint mapper of the reference."""
        association = RpcServer((EPT,), SeededEntropy("mapper")).accept(HERE, "135", NOW)
        mapper = EndpointMapper(endpoints)

        def speak() -> None:
            with self.listener, self.listener.accept()[0] as connection:
                while data := connection.recv(65_536):
                    happened = list(association.receive_bytes(data, NOW))
                    while happened:
                        one = happened.pop(0)
                        if isinstance(one, SendBytes):
                            connection.sendall(one.data)
                        elif isinstance(one, CallReceived):
                            happened += mapper(one)

        threading.Thread(target=speak, daemon=True).start()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    return Server(monkeypatch)


def test_endpoint_mapper_query_returns_the_qmcomm_port(server: Server) -> None:
    others = [MappedEndpoint(QM2QM, IPv4Address(HERE), 2105), MappedEndpoint(QMCOMM, IPv4Address(HERE), 2114)]
    server.maps(*others)
    assert ask_qmcomm_port(HERE) == 2114


def test_endpoint_mapper_without_entries_gives_no_port(server: Server) -> None:
    server.maps(MappedEndpoint(QM2QM, IPv4Address(HERE), 2105))
    with pytest.raises(SutUnavailable, match="it has no entry for qmcomm; give driver"):
        ask_qmcomm_port(HERE)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((b"",), "the mapper closed the connection"),
        ((b"HTTP/1.1 400 Bad Request\r\n\r\n",), "DCE/RPC: no supported PDU has version 72"),
        ((bytes(bind_nak(1, 0)),), "the mapper answered bind_nak to a bind"),
        ((bytes(fault(1, 0, 5)),), "the mapper answered fault to a bind"),
        ((b"\x05\0\x0c\x03\x10\0\0\0\xff\xff\0\0\x01\0\0\0" + b"\x1b[2J\n" * 9,), "the mapper closed the connection"),
    ],
)
def test_invalid_endpoint_mapper_gives_one_line_error(server: Server, answers: tuple[bytes, ...], words: str) -> None:
    server.says(*answers)
    with pytest.raises(SutUnavailable) as caught:
        ask_qmcomm_port(HERE)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


def test_silent_endpoint_mapper_is_abandoned_soon(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_mapper, "MAPPER_TIMEOUT_S", 0.05)
    with server.listener, pytest.raises(SutUnavailable, match="timed out; give driver"):
        ask_qmcomm_port(HERE)


def described(kind: str = "external", **capabilities: bool) -> SutFile:
    driver = {"kind": kind, "rpc_port": 0, "address": HERE}
    return parse_sut_file({"sut": {"name": "x"}, "driver": driver, "capabilities": capabilities})


@pytest.mark.parametrize("qm2qm", [True, False])
def test_run_queries_endpoint_mapper_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qm2qm: bool) -> None:
    asked: list[str] = []
    monkeypatch.setattr(endpoint_mapper, "ask_qmcomm_port", lambda address: asked.append(address) or 2114)
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: socket.socket())
    driver = ExternalDriver(described(qm2qm=qm2qm), tmp_path)
    for _ in range(2):
        driver._connect_once()
    assert asked == [HERE] * qm2qm
    assert (driver.rpc_port, driver.file.driver.rpc_port) == ((2114, 2114) if qm2qm else (0, 0))


def test_virtual_time_has_no_endpoint_mapper() -> None:
    with pytest.raises(UsageError, match=r"driver\.rpc_port is 0"):
        described("virtual")
