"""MS-MQQB 3.1.5.2.1 Resolve Host Address: every attempt to reach the queue manager of a private or public name, and the
elements of sessions for direct and public names.
"""

from __future__ import annotations

import pytest

from harness.expectations import holds, none, one_of
from harness.peer.handshake import NULL_GUID
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import (
    OTHER_GUID,
    PEER_QUEUE_BY_HOST_NAME,
    RETRY_INTERVAL_MS,
    find_initiated_session,
    find_outgoing_queue,
    format_guid,
    list_connection_history,
    list_sessions_that_are_not_closed,
    private_name,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession

UNREACHABLE_FORMAT_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A format name with an address that is reserved for documentation, so that no system has it (RFC 5737)."""
MESSAGE_LIFETIME_S = 60
CONNECTION_ATTEMPT_NAMES = (
    "first attempt",
    "retry after a closed connection",
    "retry after a lost session",
    "fourth attempt",
)


@needs("send")
@covers("MQQB-3.1.5.2.1-05", "MQQB-3.1.5.2.1-06", "MQQB-3.1.5.2.1-14", "MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-16")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("private", marks=needs("private_names")),
        pytest.param("public", marks=needs("public_names")),
    ],
)
def test_every_attempt_for_name_with_guid_leads_to_its_queue_manager(peer, second_host, sut, judge, kind):
    """A second queue manager has opened a session with the SUT, and a message waits for a queue manager without a next
    hop. The SUT connects to the peer for a private or public name four times, and each request contains the GUID of the
    peer; no attempt lacks a next hop. Before the second attempt, the SUT also has messages for an unreachable address
    and for a second queue manager without a next hop.
    """
    second_host.try_to_open_session()
    sut.attempt(sut.send, private_name(OTHER_GUID), body="waiting", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    name = private_name(peer.identifier) if kind == "private" else peer.format_name_of_public_queue
    session = OutgoingSession(peer, sut, name)
    for attempt in CONNECTION_ATTEMPT_NAMES:
        request = session.poll_request(
            sut.connect_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
        )
        judge(
            "MQQB-3.1.5.2.1-05",
            "MQQB-3.1.5.2.1-06",
            "MQQB-3.1.5.2.1-15",
            "MQQB-3.1.5.2.1-16",
            expected=holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection"),
            observed=request is not None,
            case=attempt,
            evidence=[request],
        )
        asked_for = "no request" if request is None else format_guid(request["EstablishConnectionHeader"].ServerGuid)
        judge(
            "MQQB-3.1.5.2.1-06",
            "MQQB-3.1.5.2.1-14",
            expected=format_guid(peer.identifier),
            observed=asked_for,
            case=f"ServerGuid of the request, {attempt}",
            evidence=[request],
        )
        if request is None:
            return
        if attempt == CONNECTION_ATTEMPT_NAMES[0]:
            for waiting in (UNREACHABLE_FORMAT_NAME, private_name(OTHER_GUID).replace("ff\\", "fe\\")):
                sut.attempt(sut.send, waiting, body="waiting", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
            peer.settle()
        if attempt == CONNECTION_ATTEMPT_NAMES[1]:  # the message is not acknowledged, so that the SUT connects again
            session.respond()
            session.answer_connection_parameters()
        session.connection.close()
        peer.settle()
    if sut.has("management"):
        judge(
            "MQQB-3.1.5.2.1-16",
            expected=none("attempt without routing data"),
            observed=[one for one in list_connection_history(sut, name) if one["Status"] == "RoutingDataNotAvailable"],
            case="ConnectionHistory of the name",
            evidence=session.request,
        )


@needs("send", "restart")
@covers("MQQB-3.1.5.2.1-06", "MQQB-3.1.5.2.1-14", "MQQB-3.1.5.2.1-15", "MQQB-3.1.5.2.1-16")
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("private", marks=needs("private_names")),
        pytest.param("public", marks=needs("public_names")),
    ],
)
def test_waiting_message_leads_to_its_queue_manager_after_restart(peer, sut, judge, kind):
    """A recoverable message for a private or public name waits. After a restart, the SUT connects to the peer, and the
    request contains the GUID of the peer.
    """
    name = private_name(peer.identifier) if kind == "private" else peer.format_name_of_public_queue
    sut.send(name, body="waiting", delivery="recoverable")
    peer.settle()
    sut.restart()
    session = OutgoingSession(peer, sut, listener=peer.listen_without_core())
    request = session.poll_request(
        sut.connect_timeout_ms + sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    )
    judge(
        "MQQB-3.1.5.2.1-06",
        "MQQB-3.1.5.2.1-15",
        "MQQB-3.1.5.2.1-16",
        expected=holds(f"the SUT connects to {peer.address}", otherwise="the SUT opened no connection"),
        observed=request is not None,
        case="after a restart",
        evidence=[request],
    )
    judge(
        "MQQB-3.1.5.2.1-14",
        expected=format_guid(peer.identifier),
        observed="no request" if request is None else format_guid(request["EstablishConnectionHeader"].ServerGuid),
        case="ServerGuid of the request after a restart",
        evidence=[request],
    )


@needs("send", "inspect")
@covers("MQQB-3.1.5.2.1-30", "MQQB-3.1.5.2.1-37")
@pytest.mark.parametrize("kind", ["direct", pytest.param("public", marks=needs("public_names"))])
def test_session_has_guid_of_its_next_hop_before_each_response(peer, sut, judge, kind):
    """The SUT makes four attempts to reach a direct or public name, and the second attempt opens a session. Before the
    peer responds, RemoteQMGuid is the QMGuid of the NextHop. For a public name, this GUID is the Identifier of the
    peer, and for a direct name it is zero or this Identifier.
    """
    sut.send(UNREACHABLE_FORMAT_NAME, time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    name = peer.direct_name() if kind == "direct" else peer.format_name_of_public_queue
    known = format_guid(peer.identifier)
    outgoing = OutgoingSession(peer, sut, name)
    for attempt in CONNECTION_ATTEMPT_NAMES:
        request = outgoing.await_request()
        shown = find_initiated_session(sut, name)
        hops = [format_guid(hop["QMGuid"]) for hop in shown["NextHopCollection"]]
        judge(
            "MQQB-3.1.5.2.1-30",
            expected=one_of([format_guid(NULL_GUID)], [known]) if kind == "direct" else [known],
            observed=hops,
            case=f"QMGuids in NextHopCollection, {attempt}",
            evidence=request,
        )
        judge(
            "MQQB-3.1.5.2.1-37",
            expected=hops[0] if hops else known,
            observed=format_guid(shown["RemoteQMGuid"]),
            case=f"RemoteQMGuid, {attempt}",
            evidence=request,
        )
        if attempt == CONNECTION_ATTEMPT_NAMES[1]:
            outgoing.respond()
            outgoing.answer_connection_parameters()
        outgoing.connection.close()
        peer.settle()


@needs("send", "inspect")
@covers("MQQB-3.1.5.2.1-32")
def test_next_hops_remain_while_session_waits_for_retry(peer, sut, judge):
    """The peer closes the connection of the SUT before it responds. While the session waits for its retry,
    NextHopCollection has the same NextHop as before.
    """
    outgoing = OutgoingSession(peer, sut)
    request = outgoing.await_request()
    before = find_initiated_session(sut, peer.direct_name())["NextHopCollection"]
    outgoing.connection.close()
    peer.settle()
    waiting = [
        one
        for one in list_sessions_that_are_not_closed(sut)
        if one["role"] == "initiator" and one["SessionState"] == "WAITING_RECONNECT"
    ]
    if not waiting:
        judge.mark_not_exercised("MQQB-3.1.5.2.1-32", reason="the SUT shows no session that waits for a retry")
        return
    judge(
        "MQQB-3.1.5.2.1-32",
        expected=before,
        observed=waiting[0]["NextHopCollection"],
        case="NextHopCollection before the retry",
        evidence=request,
    )


@needs("send", "management", "two_addresses", "private_names")
@covers("MQQB-3.1.5.2.1-25")
def test_host_name_is_resolved_while_other_session_is_established(peer, sut, judge):
    """While the SUT waits for the response to its request to the peer, the SUT gets a message for a host name. NextHops
    contains addresses of the host name, and ConnectionHistory contains no entry with DnsFailure.
    """
    session = OutgoingSession(peer, sut, private_name(peer.identifier))
    request = session.await_request()
    sut.send(PEER_QUEUE_BY_HOST_NAME, body="beside", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    peer.eventually(lambda: bool(find_outgoing_queue(sut, PEER_QUEUE_BY_HOST_NAME)["NextHops"]))
    queue = find_outgoing_queue(sut, PEER_QUEUE_BY_HOST_NAME)
    statuses = [entry["Status"] for entry in queue["ConnectionHistory"]]
    resolved = bool(queue["NextHops"]) and "DnsFailure" not in statuses
    judge(
        "MQQB-3.1.5.2.1-25",
        expected=holds("the SUT resolves the host name"),
        observed=resolved or f"{queue['NextHops']} after attempts with {statuses}",
        evidence=request,
    )
