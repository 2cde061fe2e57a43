"""MS-MQQB 3.1.3.2 Session Initialization."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, fields, holds, packet
from harness.peer.handshake import NULL_GUID, parameters, request
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.opening import (
    CLOCK_S,
    RETRY_MS,
    accepted,
    agree,
    called,
    find_initiated_session,
    list_accepted_sessions,
    listen,
    respond,
)
from suites.mqqb.steps.pinging import PingingSut, ping_fields, read_element
from suites.mqqb.steps.provoking import let_send
from suites.mqqb.steps.sender import Sender, tags
from suites.mqqb.steps.sequences import Outgoing

CLEANUP_MS = 20_000
FIRST_TIME = "closed when the cleanup time was over"
LATER = "closed one cleanup time later"

INITIAL = {
    "MQQB-3.1.3.2-08": ("UnackedReceivedMsgCount", 0),
    "MQQB-3.1.3.2-26": ("ReceivedAck", False),
    "MQQB-3.1.3.2-29": ("DirectFormatSession", False),
    "MQQB-3.1.3.2-32": ("RecoverableAckSendTimeout", 0xFFFFFFFF),
}
"""Elements of a session before its first packet, by rule."""
STOPPED = {
    "MQQB-3.1.3.2-09": "SessionAckWait",
    "MQQB-3.1.3.2-11": "TransactionalAckWait",
    "MQQB-3.1.3.2-12": "OrderAckSend",
}
"""Timers of a session before its first packet, by rule."""
SEQUENCE = {
    "MQQB-3.1.3.2-18": "LastAckCount",
    "MQQB-3.1.3.2-19": "ResendIntervalIndex",
    "MQQB-3.1.3.2-21": "ResendTime",
}
"""Elements of a new OutgoingTransferSequence that are 0, by rule."""


# -- what shows on the wire --------------------------------------------------------------------------------------


@covers(
    "MQQB-3.1.3.2-02", "MQQB-3.1.3.2-03", "MQQB-3.1.3.2-04", "MQQB-3.1.3.2-05", "MQQB-3.1.3.2-06", "MQQB-3.1.3.2-07"
)
@pytest.mark.parametrize("owed", [0, 2])
def test_counts_begin_anew_with_each_session(peer, sut, judge, owed):
    """After a session with two messages each way, the first acknowledgment of the next one counts its own, one each.

    ``owed``: how many more messages of the peer may be unacknowledged when the first session is lost.
    """
    listener = listen(peer, sut)
    first, asked = accepted(listener)
    agree(first, respond(first, asked))
    let_send(peer, sut, peer.direct_name(), delivery="recoverable")
    first.expect("UserMessage")
    first.send(peer.recoverable_message())
    first.send(peer.recoverable_message())
    first.expect("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 2)
    first.send(_acknowledgment(2))
    peer.settle()
    for _ in range(owed):
        first.send(peer.recoverable_message())
    peer.pass_time(1)
    first.close()

    let_send(peer, sut, peer.direct_name(), delivery="recoverable")
    second, asked = accepted(listener)
    came = agree(second, respond(second, asked))
    sent = second.send(peer.recoverable_message())
    ack = second.poll("SessionAck", lambda frame: frame["SessionHeader"].RecoverableMsgAckFlags != 0)
    for rule, name, expected in (
        ("MQQB-3.1.3.2-02", "UserMsgSequenceNumber", 1),
        ("MQQB-3.1.3.2-03", "RecoverableMsgSeqNumber", 1),
        ("MQQB-3.1.3.2-04", "AckSequenceNumber", 1),
        ("MQQB-3.1.3.2-06", "RecoverableMsgAckFlags", 1),
        ("MQQB-3.1.3.2-07", "RecoverableMsgAckSeqNumber", 1),
    ):
        observed = getattr(ack["SessionHeader"], name) if ack else "no SessionAck of it"
        judge(rule, expected=expected, observed=observed, evidence=[came, sent, ack])
    judge.finished("MQQB-3.1.3.2-02", "MQQB-3.1.3.2-03", "MQQB-3.1.3.2-04", "MQQB-3.1.3.2-06", "MQQB-3.1.3.2-07")
    header = second.send(_acknowledgment(1))
    again = second.send(peer.recoverable_message())
    goes_on = holds("takes the SessionHeader and acknowledges the next message")
    next_ack = second.poll("SessionAck", lambda frame: frame["SessionHeader"].AckSequenceNumber == 2)
    observed = bool(next_ack) or second.outcome()
    judge("MQQB-3.1.3.2-05", expected=goes_on, observed=observed, evidence=[sent, header, again, second.last])


def _acknowledgment(messages):
    """Acknowledge the SUT's messages, of which one is recoverable; the peer sent as many, recoverable all of them."""
    return session_ack(
        AckSequenceNumber=messages,
        RecoverableMsgAckSeqNumber=1,
        RecoverableMsgAckFlags=1,
        UserMsgSequenceNumber=messages,
        RecoverableMsgSeqNumber=messages,
        WindowSize=64,
    )


@covers("MQQB-3.1.3.2-23")
def test_messages_that_wait_fit_into_the_window_of_a_new_session(peer, sut, judge):
    """Three messages that wait when the session is opened are sent without an acknowledgment in between."""
    sender = Sender(peer, sut)
    sender.send(1, 2, 3)
    session = sender.session()
    came = sender.collect(session, 3)
    sender.acknowledge_all(session)
    judge("MQQB-3.1.3.2-23", expected=[1, 2, 3], observed=tags(came), case="messages", evidence=came)


@needs("send")
@covers("MQQB-3.1.3.2-22")
def test_messages_left_over_are_sent_again_on_the_next_session(peer, sut, judge):
    """A recoverable message that only arrived, and an express one that did not, come again on the next session."""
    sender = Sender(peer, sut)
    sender.send(1)
    sender.send(2, delivery="recoverable")
    sender.send(3)
    session = sender.session()
    if tags(sender.collect(session, 3)) != [1, 2, 3]:
        raise ConformanceFailure("the three messages did not come")
    ack = session.send(session_ack(AckSequenceNumber=2))
    peer.settle()
    session.close()
    again = sender.session()
    came = sender.collect(again, 2)
    sender.acknowledge_all(again)
    judge("MQQB-3.1.3.2-22", expected=[2, 3], observed=sorted(tags(came)), case="messages", evidence=[ack, *came])


@needs("send", "management")
@covers("MQQB-3.1.3.2-18")
def test_the_next_session_counts_its_own_order_acks(peer, sut, judge):
    """Of three messages two have OrderAcks on one session, the third on the next, which has had one then."""
    outgoing = Outgoing(peer, sut, "mqc-next-session")
    outgoing.send(3)
    outgoing.on_session()
    frames = []
    for number in (1, 2):
        frames.append(outgoing.acknowledge(number))
        outgoing.await_info("EodLastAckCount", number)
    outgoing.session.close()
    outgoing.next_session()
    outgoing.on_session()
    frames.append(outgoing.acknowledge(3))
    outgoing.await_info("EodNoAckCount", 0)
    observed = read_element(outgoing.info(), "EodLastAckCount")
    judge("MQQB-3.1.3.2-18", expected=1, observed=observed, evidence=[*outgoing.copies(3), *frames])


@needs("set_timers")
@covers("MQQB-3.1.3.2-13", "MQQB-3.1.3.2-25")
def test_session_without_messages_is_closed_by_its_first_cleanup(peer, sut, judge):
    """The Session Cleanup Timer runs from the beginning, and finds the session inactive when it expires."""
    sut.set_timers(session_cleanup_ms=CLEANUP_MS)
    session = peer.open_raw()
    due_ms, slack_ms = sut.duration_ms(CLEANUP_MS), sut.slack_ms(CLEANUP_MS)
    session.wait_closed(within_ms=2 * due_ms + slack_ms)
    took = peer.took(session.sent[0], session.record.closed_at_ms)
    took.check_steady(slack_ms)
    observed = took.when(CLEANUP_MS, FIRST_TIME) if session.closed_by_sut else "not closed in two cleanup times"
    if session.closed_by_sut and observed != FIRST_TIME and due_ms * 9 // 5 <= took.ms:
        observed = LATER
    judge(
        "MQQB-3.1.3.2-13",
        expected=holds("the timer ran"),
        observed=observed in (FIRST_TIME, LATER) or observed,
        evidence=[session.sent[0], session.last],
    )
    judge("MQQB-3.1.3.2-25", expected=FIRST_TIME, observed=observed, evidence=[session.sent[0], session.last])


@needs("set_timers")
@covers("MQQB-3.1.3.2-27")
@pytest.mark.parametrize("configured_ms", [20_000, 50_000])
def test_ack_timeout_is_the_configured_one(peer, sut, judge, configured_ms):
    """AckTimeout of the SUT's ConnectionParameters request is the configured time to wait for acknowledgments."""
    sut.set_timers(ack_wait_timeout_ms=configured_ms)
    connection, asked = called(peer, sut)
    frame = respond(connection, asked)
    timeout = frame["ConnectionParametersHeader"].AckTimeout
    judge("MQQB-3.1.3.2-27", expected=configured_ms, observed=timeout, evidence=frame)


@covers("MQQB-3.1.3.2-34")
def test_identifier_is_one_of_its_own(peer, judge):
    """Two sessions are answered with the same Identifier, which is neither null nor that of the peer."""
    frames = [peer.request_session().received[0] for _ in range(2)]
    first, second = (UUID(str(frame["EstablishConnectionHeader"].ServerGuid)) for frame in frames)
    borrowed = {NULL_GUID: "the null GUID", peer.identifier: "that of the peer"}.get(first)
    observed = borrowed or first == second or f"{first}, then {second}"
    judge("MQQB-3.1.3.2-34", expected=holds("one of its own"), observed=observed, evidence=frames)


@needs("ping_initiator", "restart")
@covers("MQQB-3.1.3.2-35")
def test_first_ping_after_a_start_has_cookie_one(peer, sut, judge):
    """PingCookie begins with 0 and is incremented before it is sent."""
    sut.restart()
    if sut.waiting_for([""]):
        judge.not_exercised("MQQB-3.1.3.2-35", reason="it pings also for messages that outlived the restart")
        return
    asked = PingingSut(peer, sut).await_ping()
    judge("MQQB-3.1.3.2-35", expected=fields(Cookie=1), observed=ping_fields(asked, "Cookie"), evidence=asked)


@covers("MQQB-3.1.3.2-36")
def test_session_waits_for_an_establish_connection_first(peer, judge):
    """The first packet of a session may be an EstablishConnection; a ConnectionParameters is not answered there."""
    right, wrong = peer.connect(), peer.connect()
    sent = [wrong.send(parameters()), right.send(request(peer))]
    got = right.poll_packet(0)
    wrong.wait_closed()
    judge(
        "MQQB-3.1.3.2-36",
        expected=facts(EstablishConnection=packet("EstablishConnection"), ConnectionParameters=None),
        observed={"EstablishConnection": got, "ConnectionParameters": wrong.poll_packet(0)},
        evidence=[*sent, got],
    )


# -- what only the abstract data model shows ---------------------------------------------------------------------


def new_session(peer, sut):
    """Connect, send nothing, and return the session that the SUT has made of it."""
    before = len(list_accepted_sessions(sut))
    peer.connect()
    for _ in range(20):
        found = list_accepted_sessions(sut)
        if len(found) > before:
            return found[-1]
        peer.pass_time(max(1, sut.response_timeout_ms // 20))
    raise ConformanceFailure("the SUT shows no session for a new connection")


@needs("inspect")
@covers(*INITIAL, *STOPPED, "MQQB-3.1.3.2-33")
def test_elements_of_a_new_session_have_their_first_values(peer, sut, judge):
    """Before its first packet, an accepted session has the values that the specification lists."""
    session = new_session(peer, sut)
    for rule, (name, expected) in INITIAL.items():
        judge(rule, expected=fields({name: expected}), observed={name: read_element(session, name)})
    for rule, name in STOPPED.items():
        judge(rule, expected=fields({name: None}), observed={name: read_element(session["timers"], name)}, case="timer")
    key = bytes.fromhex(read_element(session, "RemoteQMPublicKey"))
    judge("MQQB-3.1.3.2-33", expected=holds("zeros"), observed=bool(key and not any(key)) or key.hex())


BEGUN_AGAIN = {
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
"""Elements of a session that is established again, before the other side says anything, by rule."""


@needs("send", "inspect")
@covers(*BEGUN_AGAIN)
def test_elements_of_a_session_that_is_established_again_have_their_first_values(peer, sut, judge):
    """A session on which both sides sent and owe is lost; the SUT's next request is not answered: all begins anew."""
    sut.slow_down(1)
    sender = Sender(peer, sut)
    sender.send(1)
    sender.send(2, delivery="recoverable")
    session, _ = sender.first(2)
    session.check_alive()
    lost = [session.send(peer.recoverable_message()) for _ in range(3)]
    peer.pass_time(1)
    peer.tamper_accepted(lambda packet: None)
    session.close()
    again = peer.await_session(sut.connect_timeout_ms)
    if again is None:
        raise ConformanceFailure("the SUT did not connect again for its messages")
    asked = again.expect("EstablishConnection")
    trying = [one for one in sut.inspect()["Sessions"] if one["SessionState"] == "WAITING_ECR_MSG"]
    if len(trying) != 1:
        raise ConformanceFailure("the SUT shows no session in WAITING_ECR_MSG")
    for rule, (name, value) in BEGUN_AGAIN.items():
        judge(
            rule,
            expected=fields({name: value}),
            observed={name: read_element(trying[0], name)},
            evidence=[*lost, asked],
        )


@needs("inspect")
@covers("MQQB-3.1.3.2-15", "MQQB-3.1.3.2-16", "MQQB-3.1.3.2-17", *SEQUENCE, "MQQB-3.1.3.2-20")
def test_new_session_has_a_new_outgoing_sequence(peer, sut, judge):
    """TxOutgoingSequence of a new session knows of nothing sent and nothing acknowledged."""
    sequence = read_element(new_session(peer, sut), "TxOutgoingSequence")
    unacked = "no sequence" if sequence is None else read_element(sequence, "UnackedSequence")
    judge("MQQB-3.1.3.2-15", expected=[], observed=unacked, case="UnackedSequence")
    if sequence is None:
        raise ConformanceFailure("the SUT shows no TxOutgoingSequence")
    number = read_element(read_element(sequence, "LastAck"), "SeqNo")
    judge("MQQB-3.1.3.2-16", expected=0, observed=number, case="LastAck.SeqNo")
    judge("MQQB-3.1.3.2-17", expected=_now(peer), observed=read_element(sequence, "TimeOfLastAck"))
    for rule, name in SEQUENCE.items():
        judge(rule, expected=fields({name: 0}), observed={name: read_element(sequence, name)})
    first = read_element(sut.inspect()["QueueManager"], "ResendTimerTable")[0]
    judge(
        "MQQB-3.1.3.2-20",
        expected=first,
        observed=read_element(sequence, "ResendInterval"),
        case="ResendInterval in seconds",
    )


def _now(peer):
    now_s = peer.environment.now().utc_s
    return between(now_s - CLOCK_S, now_s + CLOCK_S)


@needs("inspect")
@covers("MQQB-3.1.3.2-14")
def test_retry_timer_runs_when_messages_wait_for_a_new_session(peer, sut, judge):
    """While a session is set up for a message, its Session Retry Connect Timer runs, for as long as it is set to."""
    if sut.has("set_timers"):
        sut.set_timers(session_retry_connect_ms=RETRY_MS)
    _, asked = called(peer, sut)
    session = find_initiated_session(sut, peer.direct_name())
    left_ms = read_element(session["timers"], "SessionRetryConnect")
    runs = left_ms is not None
    if sut.has("set_timers"):
        runs = runs and 0 < left_ms <= sut.duration_ms(RETRY_MS)
    expected = holds("SessionRetryConnect runs for as long as it is set to")
    judge("MQQB-3.1.3.2-14", expected=expected, observed=runs or f"{left_ms} ms left", evidence=asked)


OF_BOTH = ("MQQB-3.1.3.2-26", "MQQB-3.1.3.2-29", "MQQB-3.1.3.2-21")


@needs("inspect")
@covers(*OF_BOTH)
def test_a_session_of_an_initiator_begins_as_any_other(peer, sut, judge):
    """While its request is not answered yet, a session that the SUT opens has the values that an accepted one has."""
    _, asked = called(peer, sut)
    session = find_initiated_session(sut, peer.direct_name())
    sequence = read_element(session, "TxOutgoingSequence")
    for rule in OF_BOTH:
        holder, name, expected = (sequence, SEQUENCE[rule], 0) if rule in SEQUENCE else (session, *INITIAL[rule])
        judge(rule, expected=fields({name: expected}), observed={name: read_element(holder, name)}, evidence=asked)
