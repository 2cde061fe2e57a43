"""MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, connection_closed_by_sut, fields, holds, packet
from harness.peer.handshake import NULL_GUID, build_parameters_request, establish_request
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.s3_1_3_2_session_initialization.connections import open_connection_without_packets
from suites.mqqb.steps.opening import (
    CLOCK_TOLERANCE_S,
    RETRY_INTERVAL_MS,
    find_initiated_session,
)
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.pinging import PingingSut, describe_ping_fields, read_data_model_element
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import FIRST_RESEND_INTERVAL_MS, SequenceSentBySut

SESSION_CLEANUP_TIMER_MS = 20_000
SHORT_RESEND_ENTRY_COUNT = 3
"""The number of equal entries at the beginning of ResendTimerTable."""
LOWEST_MESSAGE_PRIORITY_ARGUMENT: dict[str, Any] = {"priority": 0}
"""The priority of transactional messages; the SUT sends other messages of this priority in order with the transactional
messages.
"""
FIRST_EXPIRY_OUTCOME = "the SUT closed the session at the first expiry of the Session Cleanup Timer"
SECOND_EXPIRY_OUTCOME = "the SUT closed the session at the second expiry of the Session Cleanup Timer"

INITIAL_SESSION_VALUES_BY_RULE = {
    "MQQB-3.1.3.2-08": ("UnackedReceivedMsgCount", 0),
    "MQQB-3.1.3.2-26": ("ReceivedAck", False),
    "MQQB-3.1.3.2-29": ("DirectFormatSession", False),
    "MQQB-3.1.3.2-32": ("RecoverableAckSendTimeout", 0xFFFFFFFF),
}
"""Elements of a session before its first packet, with their rules and initial values."""
STOPPED_TIMER_BY_RULE = {
    "MQQB-3.1.3.2-09": "SessionAckWait",
    "MQQB-3.1.3.2-11": "TransactionalAckWait",
    "MQQB-3.1.3.2-12": "OrderAckSend",
}
"""Timers of a session before its first packet, by rule."""
ZERO_SEQUENCE_ELEMENT_BY_RULE = {
    "MQQB-3.1.3.2-18": "LastAckCount",
    "MQQB-3.1.3.2-19": "ResendIntervalIndex",
    "MQQB-3.1.3.2-21": "ResendTime",
}
"""Elements of a new OutgoingTransferSequence that are 0, by rule."""


# -- rules visible on the wire -----------------------------------------------------------------------------------


@covers(
    "MQQB-3.1.3.2-02", "MQQB-3.1.3.2-03", "MQQB-3.1.3.2-04", "MQQB-3.1.3.2-05", "MQQB-3.1.3.2-06", "MQQB-3.1.3.2-07"
)
@pytest.mark.parametrize("owed", [0, 2])
@varied("destination", "queue journaling", priority=("3", "0"))
def test_new_session_counts_only_its_own_messages(peer, sut, judge, owed):
    """On one session, two messages are sent in each direction; on the next session, one message in each direction. The
    SUT's SessionAck on the second session counts one message. ``owed``: the number of messages from the peer that may
    be unacknowledged when the first session is lost.
    """
    session = OutgoingSession(peer, sut)
    session.open()
    first_one = session.connection
    make_sut_send_message(peer, sut, peer.direct_name(), delivery="recoverable")
    first_one.expect("UserMessage")
    first_one.send(peer.recoverable_message())
    first_one.send(peer.recoverable_message())
    first_one.expect("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 2)
    first_one.send(_build_session_ack(2))
    peer.settle()
    for _ in range(owed):
        first_one.send(peer.recoverable_message())
    peer.pass_time(1)
    first_one.close()
    make_sut_send_message(peer, sut, peer.direct_name(), delivery="recoverable")
    came = session.open()
    second_one = session.connection
    sent = second_one.send(peer.recoverable_message())
    ack = second_one.poll("SessionAck", lambda frame: frame["SessionHeader"].RecoverableMsgAckFlags != 0)
    for rule, name, expected in (
        ("MQQB-3.1.3.2-02", "UserMsgSequenceNumber", 1),
        ("MQQB-3.1.3.2-03", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.3.2-04", "AckSequenceNumber", 1),
        ("MQQB-3.1.3.2-06", "RecoverableMsgAckFlags", 1),
        ("MQQB-3.1.3.2-07", "RecoverableMsgAckSeqNumber", 1),
    ):
        observed = getattr(ack["SessionHeader"], name) if ack else "no SessionAck of it"
        judge(rule, expected=expected, observed=observed, evidence=[came, sent, ack], case=name)
    judge.conclude("MQQB-3.1.3.2-02", "MQQB-3.1.3.2-03", "MQQB-3.1.3.2-04", "MQQB-3.1.3.2-06", "MQQB-3.1.3.2-07")
    header = second_one.send(_build_session_ack(1))
    again = second_one.send(peer.recoverable_message())
    accepted = holds("the SUT accepts the SessionHeader and acknowledges the next message")
    next_ack = second_one.poll("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 2)
    observed = bool(next_ack) or second_one.outcome()
    judge("MQQB-3.1.3.2-05", expected=accepted, observed=observed, evidence=[sent, header, again, second_one.last])


def _build_session_ack(messages):
    """Make a SessionAck for a given number of messages in each direction. One message from the SUT and all messages
    from the peer are recoverable.
    """
    return session_ack(
        AckSequenceNumber=messages,
        RecoverableMsgAckSeqNumber=1,
        RecoverableMsgAckFlags=1,
        UserMsgSequenceNumber=messages,
        RecoverableMsgSeqNumber=messages,
        WindowSize=64,
    )


@covers("MQQB-3.1.3.2-23")
@varied("priority", "positive journaling", "negative journaling", "trace", "label")
def test_waiting_messages_are_sent_without_acknowledgment_in_between(peer, sut, judge):
    """Three messages wait when a session is opened. The SUT sends all three, although the peer acknowledges none of
    them, and does so again on the next session.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2, 3)
    for turn in range(2):
        session = sender.await_session()
        came = sender.collect_messages(session, 3)
        judge(
            "MQQB-3.1.3.2-23",
            expected=[1, 2, 3],
            observed=Sender.list_tags(came),
            case="numbers of the messages without an acknowledgment",
            evidence=came,
        )
        if turn:
            session.acknowledge_all()
        else:
            session.close()


@covers("MQQB-3.1.3.2-22")
@varied("trace", "label", acknowledgments=("none", "of receipt"))
def test_unacknowledged_messages_are_sent_again_on_the_next_session(peer, sut, judge):
    """On the next session, the SUT resends a recoverable message that is not acknowledged as stored, an unacknowledged
    express message, and a transactional message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-sent-again"))
    recoverable, transactional = 2, [4] if sut.has("send") else []
    sender.send(1, **LOWEST_MESSAGE_PRIORITY_ARGUMENT if transactional else {})
    sender.send(recoverable, delivery="recoverable", **LOWEST_MESSAGE_PRIORITY_ARGUMENT if transactional else {})
    sender.send(3, **LOWEST_MESSAGE_PRIORITY_ARGUMENT if transactional else {})
    sender.send(*transactional, delivery="transactional")
    session = sender.await_session()
    arrived = Sender.list_tags(sender.collect_messages(session, 3 + len(transactional)))
    if sorted(arrived) != [1, recoverable, 3, *transactional]:
        raise ConformanceFailure("the messages did not arrive")
    ack = session.send(session_ack(AckSequenceNumber=2))
    peer.settle()
    session.close()
    again = sender.await_session()
    expected = sorted({recoverable, *arrived[2:], *transactional})
    came = sender.collect_messages(again, len(expected))
    again.acknowledge_all()
    for frame in [one for one in came if one["UserHeader"].TH]:
        again.send(build_order_ack(peer, frame))
    judge(
        "MQQB-3.1.3.2-22",
        expected=expected,
        observed=sorted(Sender.list_tags(came)),
        case="numbers of the messages on the next session",
        evidence=[ack, *came],
    )


@needs("send", "management")
@covers("MQQB-3.1.3.2-18")
def test_next_session_counts_only_its_own_order_acks(peer, sut, judge):
    """The peer acknowledges two of three messages by OrderAcks on one session, and the third message on the next
    session: LastAckCount of the next session is 1.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-next-session")
    outgoing.send(3)
    outgoing.send_session_ack()
    frames = []
    for number in (1, 2):
        frames.append(outgoing.send_order_ack(number))
        outgoing.await_transfer_info_value("EodLastAckCount", number)
    outgoing.session.close()
    outgoing.await_session()
    outgoing.send_session_ack()
    frames.append(outgoing.send_order_ack(3))
    outgoing.await_transfer_info_value("EodNoAckCount", 0)
    observed = read_data_model_element(outgoing.read_transfer_info(), "EodLastAckCount")
    judge(
        "MQQB-3.1.3.2-18",
        expected=1,
        observed=observed,
        case="LastAckCount of the next session",
        evidence=[*outgoing.copies(3), *frames],
    )


@needs("timers")
@covers("MQQB-3.1.3.2-13")
def test_idle_session_of_second_attempt_closes(peer, sut, judge):
    """The SUT opens a session in its second attempt, and the peer acknowledges its message. The SUT closes the idle
    session when the Session Cleanup Timer expires.
    """
    cleanup_ms = sut.get_timer_duration_ms("session_cleanup_ms", SESSION_CLEANUP_TIMER_MS)
    session = OutgoingSession(peer, sut)
    session.await_request()
    session.connection.close()
    message = session.open()
    session.connection.acknowledge_all()
    session.connection.wait_closed(within_ms=2 * sut.duration_ms(cleanup_ms) + sut.slack_ms(cleanup_ms))
    judge(
        "MQQB-3.1.3.2-13",
        expected=connection_closed_by_sut(),
        observed=session.connection,
        evidence=[message, session.connection.last],
    )


@needs("timers")
@covers("MQQB-3.1.3.2-13", "MQQB-3.1.3.2-25")
def test_session_without_messages_closes_at_first_cleanup(peer, sut, judge):
    """The SUT closes a session without messages at the first expiry of its Session Cleanup Timer, and does not wait for
    the second expiry.
    """
    cleanup_ms = sut.get_timer_duration_ms("session_cleanup_ms", SESSION_CLEANUP_TIMER_MS)
    session = peer.open_raw()
    due_ms, slack_ms = sut.duration_ms(cleanup_ms), sut.slack_ms(cleanup_ms)
    session.wait_closed(within_ms=2 * due_ms + slack_ms)
    took = peer.measure_duration(session.sent[0], session.record.closed_at_ms)
    took.require_duration_without_long_stall(slack_ms)
    observed = (
        took.describe_expiry(cleanup_ms, FIRST_EXPIRY_OUTCOME)
        if session.closed_by_sut
        else "not closed by two expiries"
    )
    if session.closed_by_sut and observed != FIRST_EXPIRY_OUTCOME and due_ms * 9 // 5 <= took.ms:
        observed = SECOND_EXPIRY_OUTCOME
    judge(
        "MQQB-3.1.3.2-13",
        expected=holds("the Session Cleanup Timer runs from the beginning"),
        observed=observed in (FIRST_EXPIRY_OUTCOME, SECOND_EXPIRY_OUTCOME) or observed,
        evidence=[session.sent[0], session.last],
    )
    judge("MQQB-3.1.3.2-25", expected=FIRST_EXPIRY_OUTCOME, observed=observed, evidence=[session.sent[0], session.last])


@needs("set_timers")
@covers("MQQB-3.1.3.2-27")
@pytest.mark.parametrize("configured_ms", [20_000, 50_000])
def test_ack_timeout_of_a_request_is_the_configured_one(peer, sut, judge, configured_ms):
    """AckTimeout of the SUT's ConnectionParameters request is the configured AckWaitTimeout."""
    sut.set_timers(ack_wait_timeout_ms=configured_ms)
    session = OutgoingSession(peer, sut)
    session.await_request()
    frame = session.respond()
    timeout = frame["ConnectionParametersHeader"].AckTimeout
    judge("MQQB-3.1.3.2-27", expected=configured_ms, observed=timeout, case="AckTimeout of the request", evidence=frame)


@covers("MQQB-3.1.3.2-34")
def test_identifier_is_the_same_in_two_sessions(peer, sut, judge):
    """The SUT answers two session requests with the same ServerGuid, which is neither zero nor the peer's GUID. The
    ClientGuid in the SUT's own request is the same GUID.
    """
    request = OutgoingSession(peer, sut).poll_request()
    frames = [peer.request_session().received[0] for _ in range(2)]
    first_one, second_one = (UUID(str(frame["EstablishConnectionHeader"].ServerGuid)) for frame in frames)
    borrowed = {NULL_GUID: "the null GUID", peer.identifier: "that of the peer"}.get(first_one)
    observed = borrowed or first_one == second_one or f"{first_one}, then {second_one}"
    judge(
        "MQQB-3.1.3.2-34",
        expected=holds("both responses contain the same Identifier, which no other system has"),
        observed=observed,
        evidence=frames,
    )
    if request is not None:
        own = UUID(str(request["EstablishConnectionHeader"].ClientGuid))
        judge(
            "MQQB-3.1.3.2-34",
            expected=holds("the SUT's request contains the same Identifier"),
            observed=own == first_one or f"{own}, and {first_one} in a response",
            evidence=[request, *frames],
        )


@needs("ping_initiator", "restart")
@covers("MQQB-3.1.3.2-35")
def test_first_ping_after_start_has_cookie_1(peer, sut, judge):
    """The first Ping Request of the SUT after a restart has Cookie 1."""
    sut.restart()
    if sut.count_waiting_messages([""]):
        judge.mark_not_exercised("MQQB-3.1.3.2-35", reason="the SUT also pings for messages that survived the restart")
        return
    asked = PingingSut(peer, sut).await_ping()
    judge("MQQB-3.1.3.2-35", expected=fields(Cookie=1), observed=describe_ping_fields(asked, "Cookie"), evidence=asked)


@covers("MQQB-3.1.3.2-36")
def test_first_packet_other_than_establish_connection_is_not_answered(peer, judge):
    """The SUT answers an EstablishConnection packet that is the first packet of a connection. It does not answer a
    ConnectionParameters packet that is the first packet.
    """
    requesting_connection, other_connection = peer.connect(), peer.connect()
    sent = [other_connection.send(build_parameters_request()), requesting_connection.send(establish_request(peer))]
    got = requesting_connection.poll_packet(0)
    other_connection.wait_closed()
    judge(
        "MQQB-3.1.3.2-36",
        expected=fields(
            {
                "answer to EstablishConnection": packet("EstablishConnection"),
                "answer to ConnectionParameters": None,
            }
        ),
        observed={
            "answer to EstablishConnection": got,
            "answer to ConnectionParameters": other_connection.poll_packet(0),
        },
        evidence=[*sent, got],
    )


# -- rules visible in the abstract data model --------------------------------------------------------------------


@needs("inspect")
@covers(*INITIAL_SESSION_VALUES_BY_RULE, *STOPPED_TIMER_BY_RULE, "MQQB-3.1.3.2-33")
def test_accepted_session_begins_with_initial_elements(peer, sut, judge):
    """Before its first packet, an accepted session shows the specified initial values, stopped timers, and a key of
    zeros.
    """
    session = open_connection_without_packets(peer, sut)
    for rule, (name, expected) in INITIAL_SESSION_VALUES_BY_RULE.items():
        subject = f"{name} of the session"
        judge(rule, expected=fields({subject: expected}), observed={subject: read_data_model_element(session, name)})
    for rule, name in STOPPED_TIMER_BY_RULE.items():
        judge(
            rule,
            expected=fields({name: None}),
            observed={name: read_data_model_element(session["timers"], name)},
            case="remaining time of a stopped timer",
        )
    key = bytes.fromhex(read_data_model_element(session, "RemoteQMPublicKey"))
    judge(
        "MQQB-3.1.3.2-33",
        expected=holds("RemoteQMPublicKey consists of zeros"),
        observed=bool(key and not any(key)) or key.hex(),
    )


SESSION_VALUES_AFTER_REOPENING_BY_RULE = {
    "MQQB-3.1.3.2-02": ("MessageSentCount", 0),
    "MQQB-3.1.3.2-03": ("RecoverableMessageSentCount", 0),
    "MQQB-3.1.3.2-04": ("MessageReceivedCount", 0),
    "MQQB-3.1.3.2-05": ("RecoverableMessageReceivedCount", 0),
    "MQQB-3.1.3.2-06": ("RecoverableMsgAckFlags", 0),
    "MQQB-3.1.3.2-07": ("LastAckedRecoverableMsgSeqNumber", 0),
    "MQQB-3.1.3.2-08": ("UnackedReceivedMsgCount", 0),
    "MQQB-3.1.3.2-25": ("SessionActive", False),
    "MQQB-3.1.3.2-26": ("ReceivedAck", False),
    "MQQB-3.1.3.2-32": ("RecoverableAckSendTimeout", 0xFFFFFFFF),
}
"""Elements of a session that the SUT establishes again, by rule. The check reads their values before the peer answers.
"""


@needs("send", "inspect")
@covers(
    *SESSION_VALUES_AFTER_REOPENING_BY_RULE, "MQQB-3.1.3.2-16", "MQQB-3.1.3.2-18", "MQQB-3.1.3.2-19", "MQQB-3.1.3.2-20"
)
def test_reestablished_session_begins_with_initial_elements(peer, sut, judge):
    """A session with unacknowledged messages in both directions is lost. Until the peer answers the SUT's next request,
    the counts of the session have their initial values.
    """
    sut.limit_time_scale(1)
    sender = Sender(peer, sut)
    sender.send(1, priority=0)
    sender.send(2, delivery="recoverable", priority=0)
    sender.send(3, 4, delivery="transactional")
    session, came = sender.await_first_messages(4)
    session.require_session_ack_for_message()
    session.acknowledge_all()
    session.send(build_order_ack(peer, came[2]))
    resent_after_ms = sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS)
    for _ in range(SHORT_RESEND_ENTRY_COUNT):
        known = len(session.messages)
        peer.environment.run_until(lambda known=known: len(session.messages) > known, resent_after_ms)
        session.acknowledge_all()
    sender.send(5, delivery="recoverable")
    sender.collect_messages(session, len(session.messages) + 1)
    lost = [session.send(peer.recoverable_message()) for _ in range(3)]
    peer.pass_time(1)
    peer.change_packets_of_accepted_sessions(lambda packet: None)
    session.close()
    again = peer.await_session(sut.connect_timeout_ms)
    if again is None:
        raise ConformanceFailure("the SUT did not connect again for its messages")
    asked = again.expect("EstablishConnection")
    trying = [one for one in sut.inspect()["Sessions"] if one["SessionState"] == "WAITING_ECR_MSG"]
    if len(trying) != 1:
        raise ConformanceFailure("the SUT shows no session in WAITING_ECR_MSG")
    for rule, (name, value) in SESSION_VALUES_AFTER_REOPENING_BY_RULE.items():
        subject = f"{name} of the session"
        judge(
            rule,
            expected=fields({subject: value}),
            observed={subject: read_data_model_element(trying[0], name)},
            evidence=[*lost, asked],
        )
    sequence = read_data_model_element(trying[0], "TxOutgoingSequence")
    first_interval = read_data_model_element(sut.inspect()["QueueManager"], "ResendTimerTable")[0]
    for rule, name, value, shown in (
        (
            "MQQB-3.1.3.2-16",
            "LastAck.SeqNo",
            0,
            read_data_model_element(read_data_model_element(sequence, "LastAck"), "SeqNo"),
        ),
        ("MQQB-3.1.3.2-18", "LastAckCount", 0, read_data_model_element(sequence, "LastAckCount")),
        ("MQQB-3.1.3.2-19", "ResendIntervalIndex", 0, read_data_model_element(sequence, "ResendIntervalIndex")),
        ("MQQB-3.1.3.2-20", "ResendInterval", first_interval, read_data_model_element(sequence, "ResendInterval")),
    ):
        judge(rule, expected=value, observed=shown, case=name, evidence=[*lost, asked])


@needs("inspect")
@covers("MQQB-3.1.3.2-15", "MQQB-3.1.3.2-16", "MQQB-3.1.3.2-17", *ZERO_SEQUENCE_ELEMENT_BY_RULE, "MQQB-3.1.3.2-20")
def test_accepted_session_begins_with_an_empty_outgoing_sequence(peer, sut, judge):
    """TxOutgoingSequence of an accepted session contains no unacknowledged message and has the specified initial
    values.
    """
    sequence = read_data_model_element(open_connection_without_packets(peer, sut), "TxOutgoingSequence")
    unacked = "no sequence" if sequence is None else read_data_model_element(sequence, "UnackedSequence")
    judge("MQQB-3.1.3.2-15", expected=[], observed=unacked, case="UnackedSequence")
    if sequence is None:
        raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
    number = read_data_model_element(read_data_model_element(sequence, "LastAck"), "SeqNo")
    judge("MQQB-3.1.3.2-16", expected=0, observed=number, case="LastAck.SeqNo")
    judge(
        "MQQB-3.1.3.2-17",
        expected=_expect_current_time(peer),
        observed=read_data_model_element(sequence, "TimeOfLastAck"),
        case="TimeOfLastAck",
    )
    for rule, name in ZERO_SEQUENCE_ELEMENT_BY_RULE.items():
        subject = f"{name} of TxOutgoingSequence"
        judge(rule, expected=fields({subject: 0}), observed={subject: read_data_model_element(sequence, name)})
    first_one = read_data_model_element(sut.inspect()["QueueManager"], "ResendTimerTable")[0]
    judge(
        "MQQB-3.1.3.2-20",
        expected=first_one,
        observed=read_data_model_element(sequence, "ResendInterval"),
        case="ResendInterval in seconds",
    )


def _expect_current_time(peer):
    now_s = peer.environment.now().utc_s
    return between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)


@needs("inspect")
@covers("MQQB-3.1.3.2-14")
@varied("priority", "positive journaling", "negative journaling", "time to reach queue", "trace")
def test_session_retry_connect_timer_runs_for_a_waiting_message(peer, sut, judge):
    """While the SUT requests a session for a message, the Session Retry Connect Timer of the session runs with the
    configured time.
    """
    if sut.has("set_timers"):
        sut.set_timers(session_retry_connect_ms=RETRY_INTERVAL_MS)
    asked = OutgoingSession(peer, sut).await_request()
    session = find_initiated_session(sut, peer.direct_name())
    left_ms = read_data_model_element(session["timers"], "SessionRetryConnect")
    is_running = left_ms is not None
    if sut.has("set_timers"):
        is_running = is_running and 0 < left_ms <= sut.duration_ms(RETRY_INTERVAL_MS)
    expected = holds("SessionRetryConnect runs with the configured time")
    judge("MQQB-3.1.3.2-14", expected=expected, observed=is_running or f"{left_ms} ms left", evidence=asked)


RULES_OF_EITHER_ROLE = ("MQQB-3.1.3.2-26", "MQQB-3.1.3.2-29", "MQQB-3.1.3.2-21")


@needs("inspect")
@covers(*RULES_OF_EITHER_ROLE)
def test_initiated_session_begins_with_initial_elements(peer, sut, judge):
    """While the SUT's request is unanswered, its session has the same initial values as an accepted session."""
    asked = OutgoingSession(peer, sut).await_request()
    session = find_initiated_session(sut, peer.direct_name())
    sequence = read_data_model_element(session, "TxOutgoingSequence")
    for rule in RULES_OF_EITHER_ROLE:
        holder, name, expected = (
            (sequence, ZERO_SEQUENCE_ELEMENT_BY_RULE[rule], 0)
            if rule in ZERO_SEQUENCE_ELEMENT_BY_RULE
            else (session, *INITIAL_SESSION_VALUES_BY_RULE[rule])
        )
        subject = f"{name} of {'TxOutgoingSequence' if holder is sequence else 'the session'}"
        judge(
            rule,
            expected=fields({subject: expected}),
            observed={subject: read_data_model_element(holder, name)},
            evidence=asked,
        )
