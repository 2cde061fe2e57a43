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
    INITIALIZATION_TIMER_MS,
    OTHER_GUID,
    PEER_QUEUE_BY_HOST_NAME,
    expect_recent_connection_history_entry,
    get_last_connection_history_entry,
    is_text_of_ip_address,
    list_outgoing_queues,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message

MAX_HISTORY_ENTRIES = 20
ATTEMPT_INTERVAL_MS = 2_000
"""The delay in ms between two attempts. Times are in whole seconds, and the time of a new entry must be later than the
time of the previous entry.
"""
PROGRESS_STATUSES_OF_CONNECTION_HISTORY = ("InProcess", "EstablishPacketReceived", "Established")
"""Each Status that is not a failure."""
UNRESOLVABLE_HOST_QUEUE_NAME = "DIRECT=OS:no-such-host.invalid\\private$\\mqc-peer"


def await_failure_entry(peer: Peer, sut: Sut, format_name: str) -> dict[str, Any] | None:
    """Wait for the entry of a failure in ConnectionHistory and return it; return None if no such entry appears."""
    for _ in range(MAX_HISTORY_ENTRIES):
        failed = [
            entry
            for entry in _list_history_entries(sut, format_name)
            if entry["Status"] not in PROGRESS_STATUSES_OF_CONNECTION_HISTORY
        ]
        if failed:
            return failed[-1]
        peer.pass_time(sut.response_timeout_ms // MAX_HISTORY_ENTRIES)
    return None


@needs("send", "management", "two_addresses")
@covers("MQQB-3.1.5.2-04", "MQQB-3.1.5.2.2-07")
def test_each_failed_address_has_its_entry_in_connection_history(peer, sut, judge):
    """The SUT sends to a host name with several addresses, none of which has a listener. ConnectionHistory contains
    failures with the first address and with the second address, which is the peer's.
    """
    sut.limit_time_scale(4)  # a Ping Response may be too late otherwise
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="opening")

    def list_addresses_of_failed_attempts() -> set[str]:
        entries = _list_history_entries(sut, PEER_QUEUE_BY_HOST_NAME)
        return {
            entry["AddressList"] for entry in entries if entry["Status"] not in PROGRESS_STATUSES_OF_CONNECTION_HISTORY
        }

    peer.environment.run_until(lambda: len(list_addresses_of_failed_attempts()) > 1, 2 * sut.connect_timeout_ms)
    judge(
        "MQQB-3.1.5.2-04",
        expected=holds(f"ConnectionHistory lists failures of two addresses, one of them {peer.address}"),
        observed=(len(list_addresses_of_failed_attempts()) > 1 and peer.address in list_addresses_of_failed_attempts())
        or f"failures of {sorted(list_addresses_of_failed_attempts())}",
    )
    entries = _list_history_entries(sut, PEER_QUEUE_BY_HOST_NAME)
    pinged = [entry["AddressList"] for entry in entries if entry["Status"] == "PingFailure"]
    if not pinged:
        judge.mark_not_exercised("MQQB-3.1.5.2.2-07", reason="no ping failed")
        return
    judge(
        "MQQB-3.1.5.2.2-07",
        expected=holds("AddressList of each failed ping is an address"),
        observed=all(map(is_text_of_ip_address, pinged)) or str(pinged),
    )


def _list_history_entries(sut: Sut, format_name: str) -> list[dict[str, Any]]:
    """Return the ConnectionHistory entries of the OutgoingQueue for a format name, or no entries if the SUT does not
    show the queue.
    """
    return [entry for queue in list_outgoing_queues(sut, format_name) for entry in queue["ConnectionHistory"]]


@needs("send", "management")
@covers("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02", "MQQB-3.1.5.2-04")
def test_refused_connection_adds_entry_to_connection_history(peer, sut, judge):
    """The SUT sends to an address without a listener: ConnectionHistory contains a failure with its time, error and
    address.
    """
    sut.limit_time_scale(4)  # a Ping Response may be too late otherwise
    peer.host.listen_ping(sut.file.driver.peer_ping_port)
    to = peer.direct_name()
    sut.send(to, body="opening")
    entry = await_failure_entry(peer, sut, to)
    judge(
        "MQQB-3.1.5.2-01",
        expected=holds("ConnectionHistory contains an entry for a failure"),
        observed=bool(entry) or f"{len(_list_history_entries(sut, to))} entries, none of a failure",
    )
    judge.conclude("MQQB-3.1.5.2-01")
    if entry is None:
        raise ConformanceFailure("ConnectionHistory contains no entry for the failure, so its Status cannot be read")
    status = entry["Status"]
    judge(
        "MQQB-3.1.5.2-02",
        expected=one_of("SocketConnectFailure", "ConnectionRefused"),
        observed=status,
        case="Status of the ConnectionHistory entry",
    )
    judge(
        "MQQB-3.1.5.2-04",
        expected=expect_recent_connection_history_entry(peer, status, failed=True),
        observed=get_last_connection_history_entry([entry]),
    )


@needs("send", "management")
@covers("MQQB-3.1.5.2-02")
def test_unknown_host_name_has_status_dns_failure(peer, sut, judge):
    """The SUT sends to a direct name whose host name has no address: ConnectionHistory has Status DnsFailure."""
    sut.send(UNRESOLVABLE_HOST_QUEUE_NAME, body="opening")
    entry = await_failure_entry(peer, sut, UNRESOLVABLE_HOST_QUEUE_NAME)
    if entry is None:
        raise ConformanceFailure("ConnectionHistory contains no entry for the failure, so its Status cannot be read")
    judge(
        "MQQB-3.1.5.2-02", expected="DnsFailure", observed=entry["Status"], case="Status of the ConnectionHistory entry"
    )


@malforms("MQQB-3.1.5.3.1-08")
@needs("send", "management")
@covers("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02", "MQQB-3.1.5.2-03", "MQQB-3.1.5.2-04")
def test_invalid_responses_have_their_entries_in_connection_history(peer, sut, judge):
    """The peer ends the SUT's first and fourth attempt with an EstablishConnection response for another queue manager;
    their Status is UnknownFailure. The peer ends the second and the third attempt with a response with CS set; their
    Status is ConnectionRefused. Each failure adds an entry, with the time of the failure, after the earlier entries. If
    the first failure of a second queue is ConnectionRefused, its entry has the same Error.
    """
    to = peer.direct_name()
    session = OutgoingSession(peer, sut, to)
    for rule, status, flaw in (
        ("MQQB-3.1.5.2-03", "UnknownFailure", {"ClientGuid": OTHER_GUID}),
        ("MQQB-3.1.5.2-02", "ConnectionRefused", {"internal": {"CS": 1}}),
        ("MQQB-3.1.5.2-02", "ConnectionRefused", {"internal": {"CS": 1}}),
        ("MQQB-3.1.5.2-03", "UnknownFailure", {"ClientGuid": OTHER_GUID}),
    ):
        request = session.await_request()
        known = _list_history_entries(sut, to)
        is_slow = sut.duration_ms(INITIALIZATION_TIMER_MS) > 2 * ATTEMPT_INTERVAL_MS
        peer.pass_time(ATTEMPT_INTERVAL_MS if is_slow else 0)
        sent = session.connection.send(establish_response(peer, request, **flaw))
        session.connection.wait_closed()
        peer.eventually(lambda known=known: len(_list_history_entries(sut, to)) > len(known))
        entries, evidence = _list_history_entries(sut, to), [request, sent]
        added = entries[len(known) :]
        judge(
            "MQQB-3.1.5.2-01",
            expected=holds("the failure has an entry after the earlier entries"),
            observed=(bool(added) and entries[: len(known)] == known) or str(entries),
            evidence=evidence,
        )
        if not added:
            raise ConformanceFailure(f"ConnectionHistory contains no entry for the failure caused by {flaw}")
        shown = added[-1]["Status"]
        judge(rule, expected=status, observed=shown, case="Status of the ConnectionHistory entry", evidence=evidence)
        expected = expect_recent_connection_history_entry(peer, shown, failed=True)
        judge(
            "MQQB-3.1.5.2-04", expected=expected, observed=get_last_connection_history_entry(added), evidence=evidence
        )
        times = [one["ConnectionHistoryTime"] for one in (*known[-1:], added[-1])]
        if is_slow:
            judge(
                "MQQB-3.1.5.2-04",
                expected=holds("ConnectionHistoryTime of the entry is later than that of the entry before it"),
                observed=times == sorted(set(times)) or str(times),
                evidence=evidence,
            )
    _open_and_close_session(peer, session)
    beside = peer.direct_name("mqc-refused-at-first")
    make_sut_send_message(peer, sut, beside)
    session = OutgoingSession(peer, sut, beside, listener=session.listener)
    request = session.await_request()
    sent = session.connection.send(establish_response(peer, request, internal={"CS": 1}))
    session.connection.wait_closed()

    def list_refusals(format_name: str) -> list[dict[str, Any]]:
        return [one for one in _list_history_entries(sut, format_name) if one["Status"] == "ConnectionRefused"]

    peer.eventually(lambda: bool(list_refusals(beside)))
    alone, after_other = list_refusals(beside)[-1:], list_refusals(to)[-1:]
    if alone and after_other:
        judge(
            "MQQB-3.1.5.2-04",
            expected=alone[0]["Error"],
            observed=after_other[0]["Error"],
            case="Error of a refusal after another failure, and of a refusal that is the first failure",
            evidence=[request, sent],
        )
    _open_and_close_session(peer, session)


@needs("management", "private_names")
@covers("MQQB-3.1.5.2-03")
def test_response_of_other_acceptor_adds_unknown_failure(peer, sut, judge):
    """The SUT requests a session with the GUID in a private name. The peer refuses the first attempt, and ends the
    second with an EstablishConnection response that contains another ServerGuid. Status of the last failure is
    UnknownFailure.
    """
    name = private_name(peer.identifier)
    session = OutgoingSession(peer, sut, name)
    for flaw in ({"internal": {"CS": 1}}, {"ServerGuid": OTHER_GUID}):
        request = session.await_request()
        known = _list_history_entries(sut, name)
        sent = session.connection.send(establish_response(peer, request, **flaw))
        session.connection.wait_closed()
        peer.eventually(lambda known=known: len(_list_history_entries(sut, name)) > len(known))
    added = [one["Status"] for one in _list_history_entries(sut, name)[len(known) :]]
    judge(
        "MQQB-3.1.5.2-03",
        expected="UnknownFailure",
        observed=added[-1] if added else "no entry",
        case="Status of the ConnectionHistory entry",
        evidence=[request, sent],
    )
    _open_and_close_session(peer, session)


def _open_and_close_session(peer: Peer, session: OutgoingSession) -> None:
    """Let the SUT open its next session, acknowledge the message of the SUT, and close the session."""
    session.open()
    session.connection.acknowledge_all()
    peer.settle()
    session.connection.close()
    peer.settle()
