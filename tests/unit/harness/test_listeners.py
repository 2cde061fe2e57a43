"""Finding the process that listens at a port."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from harness.errors import SutUnavailable
from harness.sut.listeners import SutPort, refuse_foreign_address, refuse_foreign_listener, refuse_taken_port

ADDRESS = "127.0.43.1"
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.mark.parametrize("host", [ADDRESS, "0.0.0.0"])
def test_listener_at_the_address_or_at_all_addresses_occupies_the_port(host: str) -> None:
    with socket.create_server((host, 0)) as taken:
        port = SutPort("driver.tcp_port", ADDRESS, taken.getsockname()[1])
        with pytest.raises(SutUnavailable, match=rf"{ADDRESS}:\d+ \(driver.tcp_port\) is in use"):
            refuse_taken_port([port])
        refuse_taken_port([SutPort("driver.tcp_port", "127.0.43.2", port.number)] if host == ADDRESS else [])
    refuse_taken_port([port])


def test_ended_connections_occupy_no_port() -> None:
    with socket.create_server((ADDRESS, 0)) as listener:
        port = SutPort("driver.tcp_port", ADDRESS, listener.getsockname()[1])
        with socket.create_connection((ADDRESS, port.number)):
            listener.accept()[0].close()  # this side closes first and is left in TIME_WAIT
    refuse_taken_port([port])


def test_udp_and_tcp_ports_are_occupied_independently() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((ADDRESS, 0))
        number = taken.getsockname()[1]
        refuse_taken_port([SutPort("driver.tcp_port", ADDRESS, number)])
        with pytest.raises(SutUnavailable, match=rf"udp {ADDRESS}:{number} \(driver.ping_port\) is in use"):
            refuse_taken_port([SutPort("driver.ping_port", ADDRESS, number, socket.SOCK_DGRAM)])


def test_address_of_a_different_machine_is_named() -> None:
    refuse_foreign_address("127.0.43.1", "driver.peer_address")
    with pytest.raises(SutUnavailable, match=r"driver\.peer_address 192\.0\.2\.9 is not an address of this machine"):
        refuse_foreign_address("192.0.2.9", "driver.peer_address")
    with pytest.raises(SutUnavailable, match=r"this is not an address of this machine"):
        refuse_taken_port([SutPort("driver.tcp_port", "192.0.2.9", 1801)])


@linux
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, ADDRESS), (socket.AF_INET6, "::1")])
def test_listener_of_own_process_is_distinguished_from_foreign_listener(
    family: socket.AddressFamily, host: str, kind: socket.SocketKind
) -> None:
    with socket.socket(family, kind) as own:
        own.bind((host, 0))
        if kind is socket.SOCK_STREAM:
            own.listen()
        port = SutPort("driver.tcp_port", host, own.getsockname()[1], kind)
        refuse_foreign_listener([port], os.getpid())
        ready, say = os.pipe()
        sleeper = os.fork()
        if sleeper == 0:
            own.close()
            os.setsid()
            os.write(say, b"!")
            signal_free_wait()
        try:
            assert os.read(ready, 1)  # until then it holds the port too
            with pytest.raises(SutUnavailable, match=rf"in use by process {os.getpid()}, .*own_ports = false"):
                refuse_foreign_listener([port], sleeper)
            refuse_foreign_listener([port], os.getppid())  # what a program started is its own
        finally:
            os.kill(sleeper, 9)
            os.waitpid(sleeper, 0)
            os.close(ready)
            os.close(say)


def signal_free_wait() -> None:
    read, _ = os.pipe()
    os.read(read, 1)  # for ever


@linux
def test_owner_of_a_port_is_not_refused_where_it_is_invisible() -> None:
    with socket.create_server((ADDRESS, 0)) as own:
        refuse_foreign_listener([SutPort("driver.tcp_port", ADDRESS, own.getsockname()[1])], 0x3FFF_FFFF)
