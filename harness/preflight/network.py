"""Check a system over the network: addresses, ports, a session, a ping, and the ports of the peer."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from harness.environment import RealEnvironment
from harness.errors import SutUnavailable
from harness.preflight.setup import RunSetup
from harness.prerequisites.line import PrerequisiteFinding, PrerequisiteState
from harness.sut.discovery import derive_identity_peer, discover_identifier
from harness.sut.listeners import SutPort, describe_listener, refuse_foreign_address
from harness.sut.pulse_channels import PingPulseChannel
from reference_qm.surface.inputs import Endpoint

CONNECT_TIMEOUT_S = 5.0
MAX_PINGS, PING_WAIT_MS = 3, 1_000
"""The maximum number of pings (more than one, because a ping may be lost), and the length of the wait for each answer
(int ms).
"""


def report_system_name(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Report the name under which a run would record the results of the system."""
    sut = setup.file.sut
    yield PrerequisiteFinding(
        "name", PrerequisiteState.OK, f"{sut.name} {sut.version} ({sut.vendor}), profile {sut.profile}"
    )


def check_addresses(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Resolve the system's address, and check that the peer's address belongs to this machine."""
    driver = setup.file.driver
    try:
        found = socket.getaddrinfo(driver.address, driver.tcp_port, type=socket.SOCK_STREAM)
        said = f"driver.address {driver.address}"
        resolved = str(found[0][4][0])
        yield PrerequisiteFinding(
            "address", PrerequisiteState.OK, said if resolved == driver.address else f"{said} is {resolved}"
        )
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        yield PrerequisiteFinding(
            "address",
            PrerequisiteState.WRONG,
            f"driver.address {driver.address}: {why}",
            "give the system's address",
            True,
        )
    try:
        refuse_foreign_address(driver.peer_address, "driver.peer_address")
        yield PrerequisiteFinding(
            "peer address",
            PrerequisiteState.OK,
            f"driver.peer_address {driver.peer_address} is an address of this machine",
        )
    except (SutUnavailable, OSError) as error:
        yield PrerequisiteFinding("peer address", PrerequisiteState.WRONG, str(error), ends_run=True)


def check_session_request(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Connect to the port for sessions, and request a session."""
    driver = setup.file.driver
    where = f"{driver.address}:{driver.tcp_port}"
    if (why := try_to_connect(driver.address, driver.tcp_port)) is not None:
        remedy = (
            "check that the system runs, that address and tcp_port are right, and that no firewall blocks this machine"
        )
        yield PrerequisiteFinding("tcp port", PrerequisiteState.MISSING, f"{where}: {why}", remedy, True)
        yield PrerequisiteFinding("session", PrerequisiteState.NOT_SEEN, "no program listens at tcp_port")
        return
    yield PrerequisiteFinding("tcp port", PrerequisiteState.OK, f"{where} accepts connections")
    setup.guid = discover_identifier(driver.address, driver.tcp_port, derive_identity_peer(driver.peer_identifier))
    if setup.guid is None:
        said = f"{where} does not answer an EstablishConnection (MS-MQQB 2.2.3)"
        yield PrerequisiteFinding(
            "session", PrerequisiteState.MISSING, said, "check that a queue manager listens at tcp_port (MSMQ: 1801)"
        )
    else:
        yield PrerequisiteFinding(
            "session", PrerequisiteState.OK, f"queue manager {setup.guid} answers EstablishConnection"
        )


def check_ping(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Ping the system (MS-MQQB 2.1.2)."""
    driver, declared = setup.file.driver, setup.file.capabilities.get("ping", False)
    where = f"udp {driver.address}:{driver.ping_port}"
    answered = is_pinged(setup, Endpoint(driver.address, driver.ping_port))
    if declared and answered:
        yield PrerequisiteFinding("ping", PrerequisiteState.OK, f"{where} answers")
    elif declared:
        setup.missing_capabilities.add("ping")
        remedy = (
            "set ping = false in [capabilities], or switch the ping service on (Windows: "
            "Security\\EnablePingService) and let udp "
            "through the firewall; check that ping_port is right (MSMQ: 3527)"
        )
        yield PrerequisiteFinding("ping", PrerequisiteState.MISSING, f"{where}: no answer to {MAX_PINGS} pings", remedy)
    elif answered:
        yield PrerequisiteFinding(
            "ping", PrerequisiteState.NOT_DECLARED, f"{where} answers", "set ping = true in [capabilities]"
        )
    else:
        yield PrerequisiteFinding("ping", PrerequisiteState.NOT_DECLARED, f"{where} does not answer")


def is_pinged(setup: RunSetup, endpoint: Endpoint) -> bool:
    """Return whether the system answers at least one of several pings."""
    environment = RealEnvironment()
    answers: set[int] = set()
    try:
        channel = PingPulseChannel(
            environment, endpoint, derive_identity_peer(setup.file.driver.peer_identifier), answers.add
        )
        for number in range(1, MAX_PINGS + 1):
            if not channel.send_question(number):
                return False
            if environment.run_until(lambda: bool(answers), PING_WAIT_MS):
                return True
        return False
    except OSError:  # an unknown host name
        return False
    finally:
        environment.close()


def check_peer_ports(setup: RunSetup) -> Iterator[PrerequisiteFinding]:
    """Check whether the peer can listen at the ports to which the system connects."""
    driver = setup.file.driver
    ports = [
        SutPort("driver.peer_tcp_port", driver.peer_address, driver.peer_tcp_port),
        SutPort("driver.peer_ping_port", driver.peer_address, driver.peer_ping_port, socket.SOCK_DGRAM),
    ]
    if setup.file.capabilities.get("qm2qm", False):
        ports.append(SutPort("driver.peer_rpc_port", driver.peer_address, driver.peer_rpc_port))
    for port in ports:
        try:
            if (taken := describe_listener(port)) is None:
                continue
        except (SutUnavailable, OSError) as error:
            taken = str(error)
        remedy = (
            "end the process that listens there, or change peer_address; systems connect to fixed ports (MSMQ: 1801)"
        )
        yield PrerequisiteFinding("peer ports", PrerequisiteState.WRONG, f"{port} is {taken}", remedy)
        setup.peer_can_listen = False
    if setup.peer_can_listen:
        yield PrerequisiteFinding("peer ports", PrerequisiteState.OK, f"{', '.join(map(str, ports))} are free")


def try_to_connect(address: str, port: int, timeout_s: float = CONNECT_TIMEOUT_S) -> str | None:
    """Try to connect; return a short description of the reason for a failure, or None after a success."""
    try:
        socket.create_connection((address, port), timeout=timeout_s).close()
    except TimeoutError:
        return f"no answer within {timeout_s:g} s"
    except (OSError, UnicodeError) as error:
        return str(getattr(error, "strerror", None) or error)
    return None
