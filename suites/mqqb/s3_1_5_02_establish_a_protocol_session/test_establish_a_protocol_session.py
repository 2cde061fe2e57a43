"""MS-MQQB 3.1.5.2 Establish a Protocol Session: the ConnectionHistory of a failed attempt."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import holds, one_of
from harness.peer.inbox import establish_response
from harness.peer.peer import Peer
from harness.run.marks import covers, malforms, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    PEER_QUEUE_BY_HOST_NAME,
    expect_recent_entry,
    get_last_entry,
    list_outgoing_queues,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession

MOST_HISTORY_ENTRIES = 20
PROGRESS_STATUSES = ("InProcess", "EstablishPacketReceived", "Established")
"""Each Status that is not a failure."""
UNRESOLVABLE_HOST = "DIRECT=OS:no-such-host.invalid\\private$\\mqc-peer"


def await_failure(peer: Peer, sut: Sut, format_name: str) -> dict[str, Any] | None:
    """Wait for the entry of a failure in ConnectionHistory and return it; return None if no such entry appears."""
    for _ in range(MOST_HISTORY_ENTRIES):
        failed = [entry for entry in _list_entries(sut, format_name) if entry["Status"] not in PROGRESS_STATUSES]
        if failed:
            return failed[-1]
        peer.pass_time(sut.response_timeout_ms // MOST_HISTORY_ENTRIES)
    return None


@needs("send", "management", "two_addresses")
@covers("MQQB-3.1.5.2-04")
def test_each_failed_address_has_its_entry_in_connection_history(peer, sut, judge):
    """The SUT sends to a host name with several addresses, and no address has a listener: ConnectionHistory contains
    failures with the first address and with the second address, which is the peer's.
    """
    sut.slow_down(4)  # a Ping Response may be too late otherwise
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="opening")

    def list_failed() -> set[str]:
        entries = _list_entries(sut, PEER_QUEUE_BY_HOST_NAME)
        return {entry["AddressList"] for entry in entries if entry["Status"] not in PROGRESS_STATUSES}

    peer.environment.run_until(lambda: len(list_failed()) > 1, 2 * sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.5.2-04",
        expected=holds(f"ConnectionHistory lists failures of two addresses, one of them {peer.address}"),
        observed=(len(list_failed()) > 1 and peer.address in list_failed()) or f"failures of {sorted(list_failed())}",
    )


def _list_entries(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the ConnectionHistory entries of the OutgoingQueue for a format name; no entries when the queue is not
    shown.
    """
    return [entry for queue in list_outgoing_queues(sut, format_name) for entry in queue["ConnectionHistory"]]


@needs("send", "management")
@covers("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02", "MQQB-3.1.5.2-04")
def test_refused_connection_adds_entry_to_connection_history(peer, sut, judge):
    """The SUT sends to an address without a listener: ConnectionHistory contains a failure with its time, error and
    address.
    """
    sut.slow_down(4)  # a Ping Response may be too late otherwise
    peer.host.listen_ping(sut.file.driver.peer_ping_port)
    to = peer.direct_name()
    sut.send(to, body="opening")
    entry = await_failure(peer, sut, to)
    judge(
        "MQQB-3.1.5.2-01",
        expected=holds("ConnectionHistory contains an entry for a failure"),
        observed=bool(entry) or f"{len(_list_entries(sut, to))} entries, none of a failure",
    )
    judge.conclude("MQQB-3.1.5.2-01")
    if entry is None:
        raise ConformanceFailure("the SUT records no failure: there is no Status to read")
    status = entry["Status"]
    judge(
        "MQQB-3.1.5.2-02",
        expected=one_of("SocketConnectFailure", "ConnectionRefused"),
        observed=status,
        case="Status of the ConnectionHistory entry",
    )
    judge("MQQB-3.1.5.2-04", expected=expect_recent_entry(peer, status, failed=True), observed=get_last_entry([entry]))


@needs("send", "management")
@covers("MQQB-3.1.5.2-02")
def test_unknown_host_name_has_status_dns_failure(peer, sut, judge):
    """The SUT sends to a direct name whose host name has no address: ConnectionHistory has Status DnsFailure."""
    sut.send(UNRESOLVABLE_HOST, body="opening")
    entry = await_failure(peer, sut, UNRESOLVABLE_HOST)
    if entry is None:
        raise ConformanceFailure("the SUT records no failure: there is no Status to read")
    judge(
        "MQQB-3.1.5.2-02", expected="DnsFailure", observed=entry["Status"], case="Status of the ConnectionHistory entry"
    )


@malforms("MQQB-3.1.5.3.1-08")
@needs("send", "management")
@covers("MQQB-3.1.5.2-03")
def test_response_for_other_queue_manager_has_status_unknown_failure(peer, sut, judge):
    """An EstablishConnection response for another queue manager ends the attempt with Status UnknownFailure."""
    to = peer.direct_name()
    session = OutgoingSession(peer, sut, to)
    request = session.await_request()
    sent = session.connection.send(establish_response(peer, request, ClientGuid=OTHER_GUID))
    session.connection.wait_closed()
    entry = await_failure(peer, sut, to)
    if entry is None:
        raise ConformanceFailure("the SUT records no failure for a response from another queue manager")
    judge(
        "MQQB-3.1.5.2-03",
        expected="UnknownFailure",
        observed=entry["Status"],
        case="Status of the ConnectionHistory entry",
        evidence=[request, sent],
    )
