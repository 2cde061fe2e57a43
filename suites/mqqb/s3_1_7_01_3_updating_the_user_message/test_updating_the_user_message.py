"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet. The checks of 3.1.6.5 judge the Transactional Ack Wait Timer."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds, one_of
from harness.judging.verdicts import Verdict
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.ordering import build_final_ack, build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import (
    SequenceSentBySut,
    get_sequence_id_number,
    get_transaction_header,
    list_sequence_numbers,
    read_sequence_id,
)

LONGEST_WAIT_IN_TIMEOUTS = 8
"""The number of AckWaitTimeouts for which the check waits for the end of a session (note <46>)."""
NEARLY_DUE_ACK_DELAY_FRACTION = 0.85
"""The fraction of an acknowledgment's delay after which the SUT sends its message. The fraction is above three
quarters, so that the message has a SessionHeader (3.1.7.11).
"""
RECOVERABLE_MESSAGE_COUNT = 10
"""The number of recoverable messages that a SessionHeader acknowledges: more than eight, so that the flags fill more
than one byte.
"""
MAX_SEND_ATTEMPTS = 5
"""The number of attempts. The check needs several attempts because a busy machine may act too early or too late."""


@needs("send")
@covers(
    "MQQB-3.1.7.1.3-01",
    "MQQB-3.1.7.1.3-02",
    "MQQB-3.1.7.1.3-03",
    "MQQB-3.1.7.1.3-04",
    "MQQB-3.1.7.1.3-05",
    "MQQB-3.1.7.1.3-08",
    "MQQB-3.1.7.1-09",
)
@varied("negative journaling", "time to be received", acknowledgments=("none", "of receipt"))
def test_transactional_messages_keep_sequence_position_when_resent(peer, sut, judge):
    """The SUT sends three transactional messages and resends them on a new session. Each time, the three messages have
    the same TxSequenceID and the TxSequenceNumbers 1 to 3; PreviousTxSequenceNumber of each message is the number of
    the previous message.
    """
    for _ in range(2):
        sut.send(peer.direct_name("mqc-other-place"), body="in another sequence", delivery="transactional")
    outgoing = SequenceSentBySut(peer, sut, "mqc-place")
    sent = outgoing.send(3)
    places = [(read_sequence_id(frame), get_transaction_header(frame).TxSequenceNumber) for frame in sent]
    one = len({read_sequence_id(frame) for frame in sent})
    judge("MQQB-3.1.7.1.3-02", expected=1, observed=one, case="number of different TxSequenceIDs", evidence=sent)
    judge(
        "MQQB-3.1.7.1.3-04",
        "MQQB-3.1.7.1-09",
        expected=[1, 2, 3],
        observed=list_sequence_numbers(sent),
        case="TxSequenceNumbers",
        evidence=sent,
    )
    steps = [after - before for before, after in pairwise(list_sequence_numbers(sent))]
    judge(
        "MQQB-3.1.7.1.3-08",
        expected=[1, 1],
        observed=steps,
        case="differences between successive TxSequenceNumbers",
        evidence=sent,
    )
    before = [
        get_transaction_header(frame).TxSequenceNumber - get_transaction_header(frame).PreviousTxSequenceNumber
        for frame in sent
    ]
    judge(
        "MQQB-3.1.7.1.3-03",
        expected=[1, 1, 1],
        observed=before,
        case="TxSequenceNumber minus PreviousTxSequenceNumber",
        evidence=sent,
    )
    outgoing.session.close()
    outgoing.await_session()
    peer.environment.run_until(
        lambda: all(len(outgoing.copies(number)) > 1 for number in (1, 2, 3)), sut.response_timeout_ms
    )
    again = [copy for number in (1, 2, 3) for copy in outgoing.copies(number)[1:2]]
    if sut.has("inspect"):
        positions = read_data_model_element(outgoing.shown(), "OutgoingMessageTable")
        kept = [read_data_model_element(position, "TxSequenceNumber") for position in positions]
        case = "TxSequenceNumber of the messages that were sent again"
        judge("MQQB-3.1.7.1.3-05", expected=[1, 2, 3], observed=kept, case=case, evidence=[*sent, *again])
    else:
        judge.mark_not_exercised("MQQB-3.1.7.1.3-05", reason="the control channel does not show OutgoingMessageTable")
    same = [(read_sequence_id(frame), get_transaction_header(frame).TxSequenceNumber) for frame in again] == places
    judge(
        "MQQB-3.1.7.1.3-01",
        expected=holds("the resent messages keep their positions in the sequence", otherwise="the positions changed"),
        observed=bool(same),
        evidence=[*sent, *again],
    )
    outgoing.acknowledge_all()
    later = outgoing.send(2)
    header = get_transaction_header(later[0])
    judge(
        "MQQB-3.1.7.1.3-03",
        expected=fields(TxSequenceNumber=1, PreviousTxSequenceNumber=0),
        observed=header,
        case="first message of the next sequence",
        evidence=[*sent, *later],
    )
    outgoing.acknowledge_all()
    others = peer.inbox.find(lambda frame: bool(frame["UserHeader"].TH) and frame not in [*sent, *again])
    if others and peer.inbox.is_open(others[-1]):
        session = peer.inbox.conversation(others[-1])
        session.acknowledge_all()
        session.send(build_order_ack(peer, others[-1]))
        peer.settle()


@needs("send", "inspect")
@covers(
    "MQQB-3.1.7.1.3-05",
    "MQQB-3.1.7.1.3-06",
    "MQQB-3.1.7.1.3-07",
    "MQQB-3.1.7.1.3-12",
    "MQQB-3.1.7.1.3-26",
    "MQQB-3.1.7.1.3-28",
)
@varied("positive journaling", "label", acknowledgments=("none", "of receipt"))
def test_data_model_has_values_of_sent_messages(peer, sut, judge):
    """The SUT sends two transactional messages and a recoverable message: OutgoingMessageTable, UnackedSequence and
    SessionActive have the values of these messages.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-noted")
    sent = outgoing.send(2)
    other = outgoing.send(delivery="recoverable")
    session, sequence = outgoing.shown(), outgoing.read_sequence()
    positions = read_data_model_element(session, "OutgoingMessageTable")
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-05", "TxSequenceNumber", [1, 2, 0]),
        ("MQQB-3.1.7.1.3-12", "SequenceNumber", [1, 2, 3]),
        ("MQQB-3.1.7.1.3-26", "AwaitingAck", [True] * 3),
    ):
        found = [read_data_model_element(position, name) for position in positions]
        judge(rule, expected=expected, observed=found, case=f"{name} of the messages", evidence=[*sent, *other])
    noted = outgoing.list_unacknowledged_numbers()
    judge("MQQB-3.1.7.1.3-06", expected=[1, 2], observed=noted, case="numbers in UnackedSequence", evidence=sent)
    infos = [
        tuple(one[name] for name in ("SeqID", "SeqNo", "PrevNo"))
        for one in read_data_model_element(sequence, "UnackedSequence")
    ]
    places = [(get_sequence_id_number(frame), number, number - 1) for number, frame in enumerate(sent, 1)]
    judge("MQQB-3.1.7.1.3-07", expected=places, observed=infos, case="SEQUENCE_INFOs in UnackedSequence", evidence=sent)
    judge(
        "MQQB-3.1.7.1.3-28",
        expected=True,
        observed=read_data_model_element(session, "SessionActive"),
        case="SessionActive",
        evidence=sent,
    )
    outgoing.send_session_ack()
    outgoing.send_order_ack(2)
    peer.settle()


@covers(
    "MQQB-3.1.7.1.3-11",
    "MQQB-3.1.7.1.3-13",
    "MQQB-3.1.7.1.3-15",
    "MQQB-3.1.7.1.3-16",
    "MQQB-3.1.7.1.3-17",
    "MQQB-3.1.7.1.3-18",
    "MQQB-3.1.7.1.3-19",
    "MQQB-3.1.7.1.3-20",
    "MQQB-3.1.7.1.3-21",
    "MQQB-3.1.7.1.3-22",
    "MQQB-3.1.7.1.3-23",
    "MQQB-3.1.7.1.3-24",
    "MQQB-3.1.7.1.3-25",
    "MQQB-3.1.7.11-03",
    "MQQB-3.1.7.11-06",
    "MQQB-3.1.7.11-11",
    "MQMQ-2.2.20.4-09",
    "MQMQ-2.2.20.4-10",
    "MQMQ-2.2.20.4-12",
)
@pytest.mark.parametrize(
    "delivery",
    ["express", "recoverable", *(pytest.param(one, marks=needs("send")) for one in ("transactional", "own"))],
)
def test_session_header_of_message_acknowledges_received_messages(peer, sut, judge, delivery):
    """The peer sends eleven messages. Shortly before their acknowledgment is due, the SUT sends a message, or an
    acknowledgment that it creates itself. Then the peer repeats this with ten messages. Each time, the SessionHeader in
    the SUT's message acknowledges the messages from the peer, and no SessionAck follows.
    """
    peer.configure(window_size=Sender.PEER_WINDOW_SIZE)
    sut.limit_time_scale(1)
    sender = Sender(peer, sut, own=delivery == "own")
    sender.send_to_other_queue()
    sender.send(1)
    sender.send(2, delivery="recoverable")
    session, _ = sender.await_first_messages(2)
    agreed = session.received[1]["ConnectionParametersHeader"]
    delay_ms = sut.duration_ms(agreed.RecoverableAckTimeout)
    stalls, headers, counts = 0, [], [0]
    for attempt in range(1, MAX_SEND_ATTEMPTS + 1):
        session.acknowledge_all()
        received = [session.send(peer.message())]
        counts.append(RECOVERABLE_MESSAGE_COUNT - (attempt + 1) % 2)
        received += [session.send(peer.recoverable_message()) for _ in range(counts[-1])]
        peer.pass_time(int(delay_ms * NEARLY_DUE_ACK_DELAY_FRACTION))
        count = attempt + 2
        sender.send(count, **{} if delivery == "own" else {"delivery": delivery})
        frame = sender.collect_messages(session, count)[-1]
        if frame["BaseHeader"].SH:
            headers.append((counts[:], count, frame))
            if len(headers) == 2:
                break
            continue
        peer.pass_time(delay_ms)  # until what was sent is acknowledged
        stalls += peer.has_stalled(received[0].time_ms, peer.recorder.elapsed_ms())
    if stalls == MAX_SEND_ATTEMPTS:
        judge.give_up(
            Verdict.NOT_EXERCISED, "the SUT stalled, and never sent a message when an acknowledgment was nearly due"
        )
        return
    evidence = [*received, frame]
    for before, number, carrier in headers:
        _judge_session_header(judge, carrier, before, number, agreed.WindowSize, delivery, [*received, carrier])
    if len(session.messages) < count:
        raise ConformanceFailure("the SUT's message did not arrive")
    judge(
        "MQQB-3.1.7.11-03",
        "MQQB-3.1.7.11-11",
        expected=holds("the message has a SessionHeader", otherwise="the message has no SessionHeader"),
        observed=bool(headers),
        evidence=evidence,
    )
    if not frame["BaseHeader"].SH:
        raise ConformanceFailure("the SUT's message carried no SessionHeader although an acknowledgment was nearly due")
    # Resent messages, where answers take long, acknowledge nothing.
    silent = session.stays_quiet(2 * delay_ms + sut.slack_ms(agreed.RecoverableAckTimeout), of="SessionAck")
    judge(
        "MQQB-3.1.7.1.3-23",
        "MQQB-3.1.7.1.3-24",
        expected=holds("the SUT sends no SessionAck after the message"),
        observed=silent or session.outcome(),
        evidence=[*evidence, session.last],
    )
    received.append(session.send(peer.recoverable_message()))
    later = session.poll(
        "SessionAck",
        lambda one: one["SessionHeader"].AckSequenceNumber == attempt + sum(counts) + 1,
        within_ms=sut.duration_ms(ACK_TIMEOUT_MS),
    )
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-25", "RecoverableMsgAckSeqNumber", sum(counts) + 1),
        ("MQQB-3.1.7.1.3-21", "RecoverableMsgAckFlags", 1),
    ):
        flagged = fields({f"SessionHeader.{name}": expected})
        judge(rule, expected=flagged, observed=later, evidence=[*evidence, received[-1], later])
    for message in session.messages:
        if message["UserHeader"].TH:
            session.send(build_order_ack(peer, message))
            session.send(build_final_ack(peer, message))
    session.acknowledge_all()


def _judge_session_header(judge, frame, counts, count, window, delivery, evidence):
    """Judge the SessionHeader in a message from the SUT. ``counts``: a list that starts with 0, followed by the number
    of recoverable messages that the peer sent in each turn so far. ``count``: the number of messages that the SUT has
    sent.
    """
    carried = frame["SessionHeader"]
    attempt = len(counts) - 1
    own = 1 + (attempt if delivery not in ("express", "own") else 0)
    due_fields = (
        ("MQQB-3.1.7.1.3-16", "AckSequenceNumber", attempt + sum(counts)),
        ("MQQB-3.1.7.1.3-17", "RecoverableMsgAckSeqNumber", sum(counts[:-1]) + 1),
        ("MQQB-3.1.7.11-06", "RecoverableMsgAckSeqNumber", sum(counts[:-1]) + 1),
        ("MQQB-3.1.7.1.3-18", "UserMsgSequenceNumber", count),
        ("MQQB-3.1.7.1.3-19", "RecoverableMsgSeqNumber", own),
        ("MQQB-3.1.7.1.3-20", "RecoverableMsgAckFlags", (1 << counts[-1]) - 1),
        ("MQQB-3.1.7.1.3-22", "WindowSize", window),
        ("MQMQ-2.2.20.4-09", "UserMsgSequenceNumber", count),
        ("MQMQ-2.2.20.4-10", "RecoverableMsgSeqNumber", own),
        ("MQMQ-2.2.20.4-12", "WindowSize", WINDOW_SIZE),
    )
    for rule, name, expected in due_fields:
        judge(rule, expected=fields({name: expected}), observed=carried, evidence=evidence)
    judge(
        "MQQB-3.1.7.1.3-11",
        expected=count,
        observed=carried.UserMsgSequenceNumber,
        case="UserMsgSequenceNumber",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.1.3-13",
        expected=own,
        observed=carried.RecoverableMsgSeqNumber,
        case="RecoverableMsgSeqNumber",
        evidence=evidence,
    )
    due = {name: expected for _, name, expected in due_fields}
    whole = {name: getattr(carried, name) for name in due}
    judge("MQQB-3.1.7.1.3-15", expected=due, observed=whole, evidence=evidence)


WINDOW_SIZE = 0x40
UNACKNOWLEDGED_MESSAGE_COUNT = 2
"""The number of unacknowledged messages at the beginning of the next session."""


@covers("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03")
@pytest.mark.parametrize("last", [pytest.param("transactional", marks=needs("send")), "acknowledgments"])
def test_window_limits_messages_of_every_kind(peer, sut, judge, last):
    """The SUT has sent two recoverable messages fewer than the agreed WindowSize. It then has four transactional
    messages, or four acknowledgments that it creates itself. It sends two of them, and the other two only after the
    peer has acknowledged a message.
    """
    queue = "mqc-window"
    sender = Sender(peer, sut, peer.direct_name(queue))
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    window = require_equal_window_sizes(session)
    sender.send(*range(2, window - 1), delivery="recoverable")
    sender.collect_messages_until_silence(session, window - 2)
    if last == "transactional":
        sender.send(*range(window - 1, window + 3), delivery="transactional")
    else:
        own = peer.open_raw()
        asking = {"AdminQueue": rf"TCP:{peer.address}\private$\{queue}", "DM": 1}
        for _ in range(4):
            own.send(peer.message(asking, properties={"PA": 1}))
    came = sender.collect_messages_until_silence(session, window)
    judge.all(
        expected=one_of(window, window - 1),
        observed=len(came),
        case="number of messages on the session",
        evidence=came[-2:],
        errata="E64",
    )
    session.acknowledge_all()
    sender.collect_messages_until_silence(session, window + 2)
    session.acknowledge_all()
    for frame in session.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))


@covers("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03")
def test_sender_stops_when_window_is_full(peer, sut, judge):
    """The SUT has three messages more than the agreed WindowSize; the last three are urgent. On the first session, it
    sends as many messages as WindowSize. It also sends as many on the next session, which begins with two
    unacknowledged messages.
    """
    sender = Sender(peer, sut)
    sender.send_to_other_queue()
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    window = require_equal_window_sizes(session)
    sender.send(*range(2, window + 1))
    sender.send(*range(window + 1, window + 4), **{"priority": 7} if sut.has("send") else {})
    first = sender.collect_messages_until_silence(session, window)
    session.send(session_ack(AckSequenceNumber=window - UNACKNOWLEDGED_MESSAGE_COUNT))
    every = len(sender.collect_messages(session, window + 3))
    session.send(session_ack(AckSequenceNumber=every - UNACKNOWLEDGED_MESSAGE_COUNT))
    session.close()
    later = sender.await_session()
    if require_equal_window_sizes(later) != window:
        raise ConformanceFailure(
            f"the next session has a window of {require_equal_window_sizes(later)} instead of {window}"
        )
    sender.send(*range(window + 4, 2 * window + 5))
    again = sender.collect_messages_until_silence(later, window)
    # A SUT that counts waiting messages and resent ones (E64) has that much less room on a session.
    allowed = [
        (window, window),
        (window, window - UNACKNOWLEDGED_MESSAGE_COUNT),
        (window - 1, window - UNACKNOWLEDGED_MESSAGE_COUNT),
    ]
    counts = (len(first), len(again))
    judge.all(
        expected=one_of(*allowed),
        observed=counts,
        case="counts of messages sent on the first and on the next session",
        evidence=[*first[-2:], *again[-2:]],
        errata="E64",
    )
    later.send(session_ack(AckSequenceNumber=len(again)))
    sender.collect_messages(later, window + 1 + UNACKNOWLEDGED_MESSAGE_COUNT)
    later.acknowledge_all()


def require_equal_window_sizes(session) -> int:
    """Return the WindowSize of both sides; raise ConformanceFailure when they differ."""
    sizes = {frame["ConnectionParametersHeader"].WindowSize for frame in (session.sent[1], session.received[1])}
    if len(sizes) > 1:
        raise ConformanceFailure(
            f"the window sizes of the two sides are {sizes}, and it is not settled which size limits the sender (E25)"
        )
    return int(sizes.pop())


@covers("MQQB-3.1.7.1.3-27")
@varied("negative journaling", "time to reach queue", priority=("3", "0"))
def test_session_without_acknowledgment_of_second_message_is_closed(peer, sut, judge):
    """The peer acknowledges the SUT's first message but not the second message. The SUT closes the session, because the
    second message restarted the Session Ack Wait Timer.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    ack = session.acknowledge_all()
    timeout_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout
    peer.settle()
    sender.send(2)
    session.wait_closed(within_ms=sut.duration_ms(LONGEST_WAIT_IN_TIMEOUTS * timeout_ms) + sut.slack_ms(timeout_ms))
    judge(
        "MQQB-3.1.7.1.3-27",
        expected=holds("closed", otherwise="open"),
        observed=bool(session.closed_by_sut),
        evidence=[ack, *session.messages],
        case="session",
    )
    sender.await_session().acknowledge_all()
