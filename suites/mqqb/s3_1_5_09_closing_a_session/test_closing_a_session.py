"""MS-MQQB 3.1.5.9 Closing a Session. The checks of 3.1.6.1 judge the reconnection of an initiator."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import closed_without_answer, facts, none, packet
from harness.peer.handshake import establish_request
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.wire import session_ack
from suites.mqqb.steps.opening import OTHER_GUID, SIGNATURE_BYTES, await_early_close, format_guid
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut

SESSION_CLEANUP_TIMER_MS = 12_000


@malforms("MQQB-3.1.6.4-06")
@covers("MQQB-3.1.5.9-02")
@needs("inspect")
@pytest.mark.parametrize("ended", ["by the peer", "with wrong counts", pytest.param("idle", marks=needs("set_timers"))])
def test_closed_session_has_state_closed(peer, sut, judge, ended):
    """The peer closes an OPEN session, or the SUT closes it because of wrong counts or because it is idle. Afterwards,
    the SUT shows the session as CLOSED, or does not show it.
    """
    if ended == "idle":
        sut.set_timers(session_cleanup_ms=SESSION_CLEANUP_TIMER_MS)

    def list_session_states() -> list[str]:
        return [
            one["SessionState"]
            for one in sut.inspect()["Sessions"]
            if one["role"] == "acceptor" and format_guid(one["RemoteQMGuid"]) == format_guid(peer.identifier)
        ]

    session = peer.open_raw()
    if "OPEN" not in list_session_states():
        raise ConformanceFailure("the SUT shows no session in state OPEN after its ConnectionParameters response")
    if ended == "by the peer":
        session.close()
    else:
        if ended != "idle":
            session.send(session.build_session_ack(UserMsgSequenceNumber=0x7FFF))
        if not session.wait_closed(3 * sut.duration_ms(SESSION_CLEANUP_TIMER_MS) if ended == "idle" else None):
            raise ConformanceFailure(f"the SUT did not close the session ({ended})")
    peer.eventually(lambda: set(list_session_states()) <= {"CLOSED"})
    judge(
        "MQQB-3.1.5.9-02",
        expected=none("session of the peer in a state other than CLOSED"),
        observed=sorted(set(list_session_states()) - {"CLOSED"}),
        evidence=[*session.sent, session.last],
    )


@sut_survives()
@covers("MQQB-3.1.5.9-D01", "MQQB-3.1.5.9-D02")
@needs("set_timers")
def test_closing_idle_session_closes_connection_without_packet(peer, sut, judge):
    """A session of the peer is idle: the SUT sends no further packet and closes the connection."""
    sut.set_timers(session_cleanup_ms=SESSION_CLEANUP_TIMER_MS)
    session = peer.open_raw()
    session.require_session_ack_for_message()
    known = len(session.received)
    session.wait_closed(3 * sut.duration_ms(SESSION_CLEANUP_TIMER_MS))
    judge.all(expected=closed_without_answer(known), observed=session, evidence=[session.last])


@malforms("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07")
@sut_survives()
@covers("MQQB-3.1.5.9-D01", "MQQB-3.1.5.9-D02")
@pytest.mark.parametrize("opened_by", ["peer", "SUT"])
def test_closing_session_closes_connection_without_packet(peer, sut, judge, opened_by):
    """The SUT has not yet acknowledged a message from the peer. The peer sends a SessionAck with wrong counts on a
    session that the SUT or the peer opened. The SUT sends no further packet and closes the connection. Another session
    remains open.
    """
    beside = peer.open_raw()
    if opened_by == "peer":
        session = peer.open_raw()
    else:
        outgoing = OutgoingSession(peer, sut)
        outgoing.open()
        session = outgoing.connection
    session.require_session_ack_for_message()
    known = len(session.received)
    unacknowledged = session.send(peer.message())
    wrong = session.send(session.build_session_ack(UserMsgSequenceNumber=0x7FFF))
    observed = await_early_close(peer, session)
    judge.all(expected=closed_without_answer(known), observed=observed, evidence=[unacknowledged, wrong, session.last])
    judge(
        "MQQB-3.1.5.9-D02",
        expected=packet("SessionAck"),
        observed=beside.request_acknowledgment() or beside,
        case="other session",
        evidence=beside.received,
    )


@malforms("MQQB-3.1.6.4-06")
@covers("MQQB-3.1.5.9-D03")
@needs("inspect")
@pytest.mark.parametrize("ended", ["by the peer", "with wrong counts", pytest.param("idle", marks=needs("set_timers"))])
def test_closed_session_has_no_running_timer(peer, sut, judge, ended):
    """A session has an unsent acknowledgment. The peer closes this session, or the SUT closes it because of wrong
    counts or because it is idle. Afterwards, no timer of the session runs.
    """

    def list_running_timers() -> list[set[str]]:
        shown = [
            one for one in sut.inspect()["Sessions"] if format_guid(one["RemoteQMGuid"]) == format_guid(OTHER_GUID)
        ]
        return [
            {name for name, left_ms in read_data_model_element(one, "timers").items() if left_ms is not None}
            for one in shown
        ]

    if ended == "idle":
        sut.set_timers(session_cleanup_ms=SESSION_CLEANUP_TIMER_MS)
    session, beside = peer.open_raw({"ClientGuid": OTHER_GUID}), peer.open_raw()
    message = session.send(peer.message({"SourceQueueManager": OTHER_GUID}))
    if not peer.eventually(lambda: any(list_running_timers())):
        raise ConformanceFailure("the SUT shows no running timer of an open session")
    if ended != "idle":
        unacknowledged = beside.send(peer.message())
    if ended == "by the peer":
        session.close()
    elif ended != "idle":
        session.send(session.build_session_ack(UserMsgSequenceNumber=0x7FFF))
    if ended != "by the peer" and not session.wait_closed(
        3 * sut.duration_ms(SESSION_CLEANUP_TIMER_MS) if ended == "idle" else None
    ):
        raise ConformanceFailure(f"the SUT did not close the session ({ended})")
    peer.eventually(lambda: not any(list_running_timers()))
    observed = sorted(set().union(*list_running_timers()))
    judge("MQQB-3.1.5.9-D03", expected=none("running timer"), observed=observed, evidence=[message, session.last])
    if ended != "idle":
        ack = beside.poll("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
        judge(
            "MQQB-3.1.5.9-D03",
            expected=packet("SessionAck"),
            observed=ack or beside,
            case="other session",
            evidence=[unacknowledged, ack],
        )


@malforms(
    "MQQB-3.1.6.4-06",
    "MQMQ-2.2.19.1-21",
    "MQMQ-2.2.19.3-18",
    "MQQB-3.1.5.3.1-08",
    "MQQB-3.1.5.3.1-10",
    "MQQB-3.1.5.3.1-11",
)
@covers("MQQB-3.1.5.9-03")
@needs("queue_control")
@pytest.mark.parametrize("ended", ["by the peer", pytest.param("idle", marks=needs("set_timers"))])
def test_outgoing_queue_of_closed_session_is_disconnected(peer, sut, judge, ended):
    """The SUT sends a message, and then the peer closes the session, or the SUT closes it because it is idle. The
    outgoing queue is Connected before the close and Disconnected after it. The same holds for further sessions, which
    the peer closes, or which the SUT closes because of a wrong packet.
    """
    if ended == "idle":
        sut.set_timers(session_cleanup_ms=SESSION_CLEANUP_TIMER_MS)
    sender = Sender(peer, sut)

    def get_queue_state() -> str:
        found = [one for one in sut.control.call("list")["outgoing"] if one["format_name"].lower() == sender.to.lower()]
        return found[0]["state"] if found else "not listed"

    wrong_packets = {
        "after wrong counts": bytes(session_ack(AckSequenceNumber=1, UserMsgSequenceNumber=0x7FFF)),
        "after a wrong signature": bytes(peer.message()).replace(SIGNATURE_BYTES, b"LIAR"),
        "after a malformed packet": bytes(peer.message(MessageSize=60_000)),
        "after an unexpected packet": bytes(establish_request(peer)),
    }
    for case in ("first session", "second session", *(wrong_packets if ended != "idle" else ())):
        sender.send(1)
        session, _ = sender.await_first_messages(1)
        before = get_queue_state()
        ack = session.acknowledge_all()
        if case in wrong_packets:
            ack = session.send(wrong_packets[case])
            if not session.wait_closed():
                raise ConformanceFailure(f"the SUT did not close the session {case}")
        elif ended != "idle":
            peer.settle()
            session.close()
        elif not session.wait_closed(3 * sut.duration_ms(SESSION_CLEANUP_TIMER_MS)):
            raise ConformanceFailure("the SUT did not close the idle session")
        peer.eventually(lambda: get_queue_state() == "Disconnected")
        judge(
            "MQQB-3.1.5.9-03",
            expected=facts(State_before_close="Connected", State_after_close="Disconnected"),
            observed={"State_before_close": before, "State_after_close": get_queue_state()},
            case=case,
            evidence=[ack],
        )


@covers("MQQB-3.1.5.9-D03")
@needs("send", "inspect")
def test_lost_session_of_initiator_has_only_retry_timer(peer, sut, judge):
    """The peer drops a session with an unacknowledged transactional message from the SUT. Until the SUT connects again,
    no timer of the session runs, except possibly the Session Retry Connect Timer.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-timers")
    sent = outgoing.send()
    outgoing.session.close()
    peer.settle()
    session = outgoing.shown()
    if session["SessionState"] not in ("CLOSED", "WAITING_RECONNECT"):
        raise ConformanceFailure(
            f"the closed session is in state {session['SessionState']} instead of CLOSED or WAITING_RECONNECT"
        )
    running = {name for name, left_ms in read_data_model_element(session, "timers").items() if left_ms is not None}
    others = sorted(running - {"SessionRetryConnect"})
    judge(
        "MQQB-3.1.5.9-D03",
        expected=none("running timer of the session except SessionRetryConnect"),
        observed=others,
        evidence=sent,
    )
    outgoing.await_session()
    outgoing.acknowledge_all()
