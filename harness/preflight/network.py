"""The view of a system from outside: addresses, ports, a session, a ping; and the ports of the peer."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from harness.environment import RealEnvironment
from harness.errors import SutUnavailable
from harness.preflight.setup import Setup
from harness.roots.line import Line, State
from harness.sut.discovery import as_identity_peer, discover_identifier
from harness.sut.listeners import Port, describe_listener, refuse_foreign
from harness.sut.pulse_channels import PingChannel
from reference_qm.surface.inputs import Endpoint

CONNECT_S = 5.0
PINGS, PING_MS = 3, 1_000
"""A ping may be lost: so many, each awaited so long."""


def name(setup: Setup) -> Iterator[Line]:
    """Say whose results a run would be."""
    sut = setup.file.sut
    yield Line("name", State.OK, f"{sut.name} {sut.version} ({sut.vendor}), profile {sut.profile}")


def addresses(setup: Setup) -> Iterator[Line]:
    """Look up the system's address, and whether the peer's is one of this machine."""
    driver = setup.file.driver
    try:
        found = socket.getaddrinfo(driver.address, driver.tcp_port, type=socket.SOCK_STREAM)
        said = f"driver.address {driver.address}"
        resolved = str(found[0][4][0])
        yield Line("address", State.OK, said if resolved == driver.address else f"{said} is {resolved}")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        yield Line("address", State.WRONG, f"driver.address {driver.address}: {why}", "give the system's address", True)
    try:
        refuse_foreign(driver.peer_address, "driver.peer_address")
        yield Line("peer address", State.OK, f"driver.peer_address {driver.peer_address} is this machine's")
    except (SutUnavailable, OSError) as error:
        yield Line("peer address", State.WRONG, str(error), ends_run=True)


def sessions(setup: Setup) -> Iterator[Line]:
    """Connect where it accepts sessions, and ask for one."""
    driver = setup.file.driver
    where = f"{driver.address}:{driver.tcp_port}"
    if (why := try_connect(driver.address, driver.tcp_port)) is not None:
        way_out = "is it running, and are address and tcp_port in [driver] right? does a firewall let this machine in?"
        yield Line("tcp port", State.MISSING, f"{where}: {why}", way_out, True)
        yield Line("session", State.NOT_SEEN, "nothing listens at tcp_port")
        return
    yield Line("tcp port", State.OK, f"{where} accepts connections")
    setup.guid = discover_identifier(driver.address, driver.tcp_port, as_identity_peer(driver.peer_identifier))
    if setup.guid is None:
        said = f"{where} answers no EstablishConnection (MS-MQQB 2.2.3)"
        yield Line("session", State.MISSING, said, "does a queue manager listen at tcp_port (MSMQ: 1801)?")
    else:
        yield Line("session", State.OK, f"EstablishConnection is answered by queue manager {setup.guid}")


def ping(setup: Setup) -> Iterator[Line]:
    """Ping it (MS-MQQB 2.1.2)."""
    driver, declared = setup.file.driver, setup.file.capabilities.get("ping", False)
    where = f"udp {driver.address}:{driver.ping_port}"
    answered = is_pinged(setup, Endpoint(driver.address, driver.ping_port))
    if declared and answered:
        yield Line("ping", State.OK, f"{where} answers")
    elif declared:
        setup.lacking.add("ping")
        way_out = (
            "set ping = false in [capabilities], or switch it on (Windows: Security\\EnablePingService) and let udp "
            "through the firewall; is ping_port right (MSMQ: 3527)?"
        )
        yield Line("ping", State.MISSING, f"{where}: no answer to {PINGS} pings", way_out)
    elif answered:
        yield Line("ping", State.NOT_DECLARED, f"{where} answers", "set ping = true in [capabilities]")
    else:
        yield Line("ping", State.NOT_DECLARED, f"{where} does not answer")


def is_pinged(setup: Setup, endpoint: Endpoint) -> bool:
    """Return whether one of a few pings is answered."""
    environment = RealEnvironment()
    answers: set[int] = set()
    try:
        channel = PingChannel(environment, endpoint, as_identity_peer(setup.file.driver.peer_identifier), answers.add)
        for number in range(1, PINGS + 1):
            if not channel.ask(number):
                return False
            if environment.run_until(lambda: bool(answers), PING_MS):
                return True
        return False
    except OSError:  # a name that nobody knows
        return False
    finally:
        environment.close()


def peer_ports(setup: Setup) -> Iterator[Line]:
    """Check whether the peer can listen where the system connects to it."""
    driver = setup.file.driver
    ports = [
        Port("driver.peer_tcp_port", driver.peer_address, driver.peer_tcp_port),
        Port("driver.peer_ping_port", driver.peer_address, driver.peer_ping_port, socket.SOCK_DGRAM),
    ]
    if setup.file.capabilities.get("qm2qm", False):
        ports.append(Port("driver.peer_rpc_port", driver.peer_address, driver.peer_rpc_port))
    for port in ports:
        try:
            if (taken := describe_listener(port)) is None:
                continue
        except (SutUnavailable, OSError) as error:
            taken = str(error)
        way_out = (
            "end the process that listens there, or give another peer_address; "
            "systems connect to fixed ports (MSMQ: 1801)"
        )
        yield Line("peer ports", State.WRONG, f"{port} is {taken}", way_out)
        setup.peer_can_listen = False
    if setup.peer_can_listen:
        yield Line("peer ports", State.OK, f"{', '.join(map(str, ports))} are free")


def try_connect(address: str, port: int, timeout_s: float = CONNECT_S) -> str | None:
    """Connect; say in a few words why that failed, None when it did not."""
    try:
        socket.create_connection((address, port), timeout=timeout_s).close()
    except TimeoutError:
        return f"no answer within {timeout_s:g} s"
    except (OSError, UnicodeError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None
