"""MS-MQQB 3.1.5.4.2 Response Packet, and the outgoing queue while a session is being opened."""

from __future__ import annotations

from typing import Any

from harness.expectations import fields, holds, packet, packets
from harness.peer.handshake import UNUSUAL_WINDOW_SIZE
from harness.peer.inbox import parameters_response
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.opening import (
    INITIALIZATION_TIMER_MS,
    PEER_QUEUE_BY_HOST_NAME,
    expect_recent_connection_history_entry,
    find_initiated_session,
    find_outgoing_queue,
    get_last_connection_history_entry,
)
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sender import Sender

HANDSHAKE_STEP_INTERVAL_MS = 2_000
"""The time in ms between two steps, which is so long that the entries of the steps have different times in whole
seconds.
"""
USER_MESSAGE_EXPECTATION = packet("UserMessage")


@needs("management")
@covers(
    "MQQB-3.1.5.2.3-14",
    "MQQB-3.1.5.2.3-16",
    "MQQB-3.1.5.3.2-15",
    "MQQB-3.1.5.4.2-03",
    "MQQB-3.1.5.4.2-04",
    "MQQB-3.1.5.4.2-05",
    "MQQB-3.1.5.4.2-08",
    "MQQB-3.1.5.4.2-09",
)
def test_outgoing_queue_shows_each_step_of_the_opening(peer, sut, judge):
    """The peer closes the SUT's first connection after the request, and opens a session on the second connection. Each
    step adds an entry to ConnectionHistory, with the time of the step. State is first Waiting and then Connected.
    NextHops contains one address.
    """
    to = peer.direct_name()
    earlier: list[dict[str, Any]] = []
    is_slow = sut.duration_ms(INITIALIZATION_TIMER_MS) > 5 * HANDSHAKE_STEP_INTERVAL_MS

    def judge_entry(rule: str, status: str, frame) -> None:
        nonlocal earlier
        entries = find_outgoing_queue(sut, to)["ConnectionHistory"]
        judge(
            rule,
            expected=expect_recent_connection_history_entry(peer, status),
            observed=get_last_connection_history_entry(entries),
            evidence=frame,
        )
        kept = entries[: len(earlier)] == earlier and len(entries) > len(earlier)
        grown = holds("the entry follows the earlier entries of ConnectionHistory")
        judge(rule, expected=grown, observed=kept or str(entries), evidence=frame)
        if is_slow and earlier:
            times = [one["ConnectionHistoryTime"] for one in entries[-2:]]
            judge(
                rule,
                expected=holds("ConnectionHistoryTime of the entry is later than that of the entry before it"),
                observed=times[0] < times[1] or str(times),
                evidence=frame,
            )
        earlier = entries
        if is_slow:
            peer.pass_time(HANDSHAKE_STEP_INTERVAL_MS)

    def await_request():
        asked = session.await_request()
        judge_entry("MQQB-3.1.5.2.3-14", "InProcess", asked)
        judge(
            "MQQB-3.1.5.2.3-16",
            expected="Waiting",
            observed=find_outgoing_queue(sut, to)["State"],
            case="State of the outgoing queue",
            evidence=asked,
        )

    session = OutgoingSession(peer, sut, to)
    await_request()
    session.connection.close()
    await_request()
    judge_entry("MQQB-3.1.5.3.2-15", "EstablishPacketReceived", session.respond())
    session.answer_connection_parameters(WindowSize=UNUSUAL_WINDOW_SIZE)
    agreed = session.connection.sent[-1]
    judge_entry("MQQB-3.1.5.4.2-08", "Established", agreed)
    queue = find_outgoing_queue(sut, to)
    judge(
        "MQQB-3.1.5.4.2-09",
        expected="Connected",
        observed=queue["State"],
        case="State of the outgoing queue",
        evidence=agreed,
    )
    hops = queue["NextHops"]
    last = hops[-1] if hops else "none"
    address = last.partition("=")[2] or last
    judge("MQQB-3.1.5.4.2-03", expected=1, observed=len(hops), case="number of addresses in NextHops", evidence=agreed)
    judge("MQQB-3.1.5.4.2-04", expected=peer.address, observed=address, case="address in NextHops", evidence=agreed)
    formatted = f"{'IPv6' if ':' in address else 'IP'}={address}"
    judge("MQQB-3.1.5.4.2-05", expected=formatted, observed=last, case="address in NextHops", evidence=agreed)
    make_sut_send_message(peer, sut, peer.direct_name("mqc-beside"), tag=2)
    beside = OutgoingSession(peer, sut, listener=session.listener)
    if beside.poll_request() is not None:  # else the message comes on the open session (E16)
        beside.respond()
        second = beside.answer_connection_parameters()
        judge(
            "MQQB-3.1.5.4.2-09",
            expected="Connected",
            observed=find_outgoing_queue(sut, to)["State"],
            case="State of the outgoing queue, after a session of another queue was opened",
            evidence=[agreed, second],
        )


@needs("send", "management", "two_addresses")
@covers(
    "MQQB-3.1.5.2.3-14",
    "MQQB-3.1.5.3.2-15",
    "MQQB-3.1.5.4.2-03",
    "MQQB-3.1.5.4.2-04",
    "MQQB-3.1.5.4.2-05",
    "MQQB-3.1.5.4.2-08",
)
def test_outgoing_queue_for_a_host_name_shows_the_address(peer, sut, judge):
    """After a session for a host name with two addresses, ConnectionHistory and NextHops contain the peer's address."""
    sender = Sender(peer, sut, PEER_QUEUE_BY_HOST_NAME)
    sender.send(1)
    session = sender.await_session()
    came = sender.collect_messages(session, 1)
    queue = find_outgoing_queue(sut, sender.to)
    for rule, status in (
        ("MQQB-3.1.5.2.3-14", "InProcess"),
        ("MQQB-3.1.5.3.2-15", "EstablishPacketReceived"),
        ("MQQB-3.1.5.4.2-08", "Established"),
    ):
        entries = [one for one in queue["ConnectionHistory"] if one["Status"] == status]
        judge(
            rule,
            expected=expect_recent_connection_history_entry(peer, status),
            observed=get_last_connection_history_entry(entries),
            evidence=came,
        )
    hops = [hop.partition("=")[2] or hop for hop in queue["NextHops"]]
    judge("MQQB-3.1.5.4.2-03", expected=1, observed=len(hops), case="number of addresses in NextHops", evidence=came)
    judge("MQQB-3.1.5.4.2-04", expected=[peer.address], observed=hops, case="addresses in NextHops", evidence=came)
    formatted = f"{'IPv6' if ':' in peer.address else 'IP'}={peer.address}"
    judge("MQQB-3.1.5.4.2-05", expected=[formatted], observed=queue["NextHops"], case="NextHops", evidence=came)
    session.acknowledge_all()


@needs("inspect")
@covers("MQQB-3.1.5.4.2-01")
def test_received_window_size_is_that_of_the_response(peer, sut, judge):
    """ReceivedWindowSize of the SUT's session, and of its next sessions after a loss, is the WindowSize of the peer's
    ConnectionParameters, which is first higher and then lower than before.
    """
    session = OutgoingSession(peer, sut)
    for window in (UNUSUAL_WINDOW_SIZE, UNUSUAL_WINDOW_SIZE + 1, UNUSUAL_WINDOW_SIZE - 1):
        session.await_request()
        session.respond()
        session.answer_connection_parameters(WindowSize=window)
        observed = find_initiated_session(sut, peer.direct_name())["ReceivedWindowSize"]
        judge(
            "MQQB-3.1.5.4.2-01",
            expected=window,
            observed=observed,
            case="ReceivedWindowSize of the session",
            evidence=session.connection.sent[-1],
        )
        session.connection.close()
        peer.settle()


@covers("MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-D01")
@varied("time to be received", "destination", acknowledgments=("none", "of arrival"))
def test_connection_parameters_response_opens_session(peer, sut, judge):
    """The SUT gets a second message to send while the session for its first message is being set up. The peer closes
    the first connection. On the second connection, the SUT sends no message before the ConnectionParameters response.
    Then it sends both messages and acknowledges a message from the peer.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    session.connection.close()
    session.await_request()
    make_sut_send_message(peer, sut, peer.direct_name(), tag=2, delivery="recoverable")
    parameters = session.respond()
    connection = session.connection
    is_quiet = connection.stays_quiet()
    agreed = connection.send(parameters_response(parameters))
    messages = [connection.poll("UserMessage") for _ in range(2)]
    message = messages[0]
    judge(
        "MQQB-3.1.5.4.2-07",
        expected=fields(
            {
                "SUT is silent before the response": True,
                "packets after the response": packets(USER_MESSAGE_EXPECTATION, USER_MESSAGE_EXPECTATION),
            }
        ),
        observed={"SUT is silent before the response": is_quiet, "packets after the response": messages},
        evidence=[parameters, agreed, *messages],
    )
    answer = None if message is None else connection.request_acknowledgment()
    judge(
        "MQQB-3.1.5.4.2-D01",
        expected=fields({"packet of the SUT": packet("UserMessage"), "answer to a message": packet("SessionAck")}),
        observed={"packet of the SUT": message, "answer to a message": answer},
        evidence=[parameters, agreed, message, answer],
    )


@covers("MQQB-3.1.5.4.2-D01")
def test_message_sent_with_connection_parameters_response_is_acknowledged(peer, sut, judge):
    """The peer sends a recoverable message in the same TCP segment as the ConnectionParameters response. The SUT
    acknowledges the message.
    """
    session = OutgoingSession(peer, sut)
    session.await_request()
    parameters = session.respond()
    connection = session.connection
    sent = connection.send_together(parameters_response(parameters), peer.recoverable_message())
    ack = connection.await_session_ack(1)
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
    judge.all(expected=expected, observed=ack or connection, evidence=[*sent, ack])
    connection.acknowledge_all()


@needs("send", "management")
@covers("MQQB-3.1.5.2.3-14", "MQQB-3.1.5.3.2-15", "MQQB-3.1.5.4.2-04", "MQQB-3.1.5.4.2-08")
def test_each_session_of_a_queue_has_its_entries(peer, sut, judge):
    """The SUT opens four sessions for one outgoing queue, one after the other, the last one because a message is
    unacknowledged. Each session adds the entries InProcess, EstablishPacketReceived and Established to
    ConnectionHistory. NextHops contains the peer's address during each session.
    """
    to, listener = peer.direct_name(), peer.listen_without_core()
    for number in range(1, 5):
        if number < 4:
            sut.send(to, body="one of several sessions")
        session = OutgoingSession(peer, sut, listener=listener)
        for rule, status, step in (
            ("MQQB-3.1.5.2.3-14", "InProcess", session.await_request),
            ("MQQB-3.1.5.3.2-15", "EstablishPacketReceived", session.respond),
            ("MQQB-3.1.5.4.2-08", "Established", session.answer_connection_parameters),
        ):
            frame = step()
            entry = get_last_connection_history_entry(find_outgoing_queue(sut, to)["ConnectionHistory"])
            judge(rule, expected=expect_recent_connection_history_entry(peer, status), observed=entry, evidence=frame)
        hops = [hop.partition("=")[2] or hop for hop in find_outgoing_queue(sut, to)["NextHops"]]
        judge(
            "MQQB-3.1.5.4.2-04",
            expected=[peer.address],
            observed=hops,
            case=f"addresses in NextHops during session {number}",
            evidence=frame,
        )
        if number != 3:
            session.connection.acknowledge_all()
        peer.settle()
        session.connection.close()
        peer.settle()
