"""MS-MQQB 3.1.5.2 Establish a Protocol Session: what a failed attempt leaves in ConnectionHistory."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import holds, one_of
from harness.peer.inbox import response
from harness.peer.peer import Peer
from harness.run.marks import covers, malforms, needs
from harness.sut.sut import Sut
from suites.mqqb.steps.opening import OTHER_GUID, called, last_entry, list_outgoing_queues, recent_entry

STEPS = 20
PROGRESS = ("InProcess", "EstablishPacketReceived", "Established")
"""Each Status that is no failure; every other is one."""
UNRESOLVABLE = "DIRECT=OS:no-such-host.invalid\\private$\\mqc-peer"


def failure(peer: Peer, sut: Sut, format_name: str) -> dict[str, Any] | None:
    """Wait for the entry of a failure; None when none appeared."""
    for _ in range(STEPS):
        failed = [entry for entry in _entries(sut, format_name) if entry["Status"] not in PROGRESS]
        if failed:
            return failed[-1]
        peer.pass_time(sut.response_timeout_ms // STEPS)
    return None


def _entries(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the ConnectionHistory of the OutgoingQueue for a format name; nothing when it is not shown."""
    return [entry for queue in list_outgoing_queues(sut, format_name) for entry in queue["ConnectionHistory"]]


@needs("send", "management")
@covers("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02", "MQQB-3.1.5.2-04")
def test_a_refused_connection_leaves_an_entry_that_says_so(peer, sut, judge):
    """When nobody listens there, ConnectionHistory has the failure, its time, its HRESULT and the address."""
    sut.slow_down(4)  # else a Ping Response may be too late
    peer.host.listen_ping(sut.file.driver.peer_ping_port)
    to = peer.direct_name()
    sut.send(to, body="opening")
    entry = failure(peer, sut, to)
    judge(
        "MQQB-3.1.5.2-01",
        expected=holds("an entry of a failure"),
        observed=bool(entry) or f"{len(_entries(sut, to))} entries, none of a failure",
    )
    judge.conclude("MQQB-3.1.5.2-01")
    if entry is None:
        raise ConformanceFailure("the SUT notes no failure: there is nothing to read a Status from")
    status = entry["Status"]
    judge("MQQB-3.1.5.2-02", expected=one_of("SocketConnectFailure", "ConnectionRefused"), observed=status)
    judge("MQQB-3.1.5.2-04", expected=recent_entry(peer, status, failed=True), observed=last_entry([entry]))


@needs("send", "management")
@covers("MQQB-3.1.5.2-02")
def test_an_unknown_host_is_a_dns_failure(peer, sut, judge):
    """When the host name of a direct format name has no address, the Status is DnsFailure."""
    sut.send(UNRESOLVABLE, body="opening")
    entry = failure(peer, sut, UNRESOLVABLE)
    if entry is None:
        raise ConformanceFailure("the SUT notes no failure: there is nothing to read a Status from")
    judge("MQQB-3.1.5.2-02", expected="DnsFailure", observed=entry["Status"])


@malforms("MQQB-3.1.5.3.1-08")
@needs("send", "management")
@covers("MQQB-3.1.5.2-03")
def test_a_failure_without_a_name_is_unknown(peer, sut, judge):
    """A response that is for another queue manager fails the attempt, and no Status stands for that."""
    to = peer.direct_name()
    connection, request = called(peer, sut, to)
    sent = connection.send(response(peer, request, ClientGuid=OTHER_GUID))
    connection.wait_closed()
    entry = failure(peer, sut, to)
    if entry is None:
        raise ConformanceFailure("the SUT notes no failure for a response that names another queue manager")
    judge("MQQB-3.1.5.2-03", expected="UnknownFailure", observed=entry["Status"], evidence=[request, sent])
