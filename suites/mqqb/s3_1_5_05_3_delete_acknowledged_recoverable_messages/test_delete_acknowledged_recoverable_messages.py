"""MS-MQQB 3.1.5.5.3 Delete Acknowledged Recoverable Messages: the messages that the SUT sends again on a later
session.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness.expectations import none
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.acknowledging import (
    MESSAGE_AS_HEADER_CARRIER,
    SESSION_ACK_AS_HEADER_CARRIER,
    send_session_header_in_carrier,
)
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import RESENT_OUTCOME, SequenceSentBySut


@covers("MQQB-3.1.5.5-05", "MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02", "MQQB-3.1.5.8.4-01")
@pytest.mark.parametrize(
    ("count", "number", "flags", "carrier"),
    [
        (3, 0, 0, SESSION_ACK_AS_HEADER_CARRIER),
        (6, 3, 0b101, SESSION_ACK_AS_HEADER_CARRIER),
        (33, 1, 0x8000_0001, SESSION_ACK_AS_HEADER_CARRIER),
        (33, 2, 0x8000_0001, MESSAGE_AS_HEADER_CARRIER),
        (33, 1, 0x7FFF_FFFF, SESSION_ACK_AS_HEADER_CARRIER),
        (12, 1, 0b0101_0101_0101, MESSAGE_AS_HEADER_CARRIER),
        (12, 2, 0b100_0010_0011, SESSION_ACK_AS_HEADER_CARRIER),
        (5, 4, 1, MESSAGE_AS_HEADER_CARRIER),
    ],
    ids=["none", "some", "last-bit", "last-bit-of-the-last", "all-but-the-last", "every-other", "three", "all-but-one"],
)
def test_only_unacknowledged_recoverable_messages_come_again(peer, sut, judge, count, number, flags, carrier):
    """The peer acknowledges messages by RecoverableMsgAckSeqNumber and RecoverableMsgAckFlags. On the next session, the
    SUT does not send these messages, and sends all later messages. Erratum E22 allows several results for messages with
    lower numbers, and if bit 0 is clear; the check judges neither case. Meanwhile, a session of the peer is open.
    """
    peer.try_to_open_session()
    sender = Sender(peer, sut)
    sender.send(*range(1, count + 1), delivery="recoverable")
    session, sent = sender.await_first_messages(count)
    header = {"AckSequenceNumber": count, "RecoverableMsgAckSeqNumber": number, "RecoverableMsgAckFlags": flags}
    ack = send_session_header_in_carrier(carrier, session, **header)
    session.close()
    flagged = {number + bit for bit in range(32) if flags >> bit & 1}
    unflagged = {at for at in range(number + 1, count + 1) if at not in flagged}

    next_session = sender.await_session()
    came = sender.collect_messages_until_silence(next_session, len(unflagged))
    numbers = {Sender.list_tags(sent).index(tag) + 1 for tag in Sender.list_tags(came)}
    evidence = [ack, *came]
    if carrier != MESSAGE_AS_HEADER_CARRIER:
        judge.mark_not_exercised("MQQB-3.1.5.8.4-01", reason="no message carries the acknowledgment in a SessionHeader")
    judge(
        *(["MQQB-3.1.5.8.4-01"] if carrier == MESSAGE_AS_HEADER_CARRIER else []),
        "MQQB-3.1.5.5-05",
        expected=unflagged,
        observed=_select_numbers_in_range(number, count, numbers),
        case="numbers of the messages sent again",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.5.5.3-01",
        expected=none("acknowledged message that is sent again"),
        observed=_select_numbers_in_range(number, number, numbers),
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.5.5.3-02",
        expected=unflagged,
        observed=_select_numbers_in_range(number + 1, count, numbers),
        case="numbers of the messages sent again",
        evidence=evidence,
    )
    next_session.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.5.5.3-01", "MQQB-3.1.5.5.3-02", "MQMQ-2.2.20.4-D02")
@varied("priority", "positive journaling", "negative journaling", "trace", "label")
def test_ack_flags_count_only_recoverable_messages(peer, sut, judge):
    """The SUT sends express and recoverable messages alternately. The peer acknowledges all express messages, and sets
    the flags of the first and the third recoverable message. The SUT sends only the second recoverable message again,
    and a message to another queue, which the peer has not acknowledged.
    """
    outgoing = SequenceSentBySut(peer, sut)
    sender = outgoing.sender
    tags = [peer.next_message_id() for _ in range(6)]
    for number, tag in enumerate(tags, 1):
        sender.send(tag, delivery="express" if number % 2 else "recoverable")
    session, sent = sender.await_first_messages(6)
    beside = outgoing.start_second_sequence("mqc-beside")
    beside.send(1, "recoverable")
    if peer.has_unawaited_connection:
        peer.await_session(0)
    ack = session.send(session_ack(AckSequenceNumber=6, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b101))
    session.close()
    next_session = sender.await_session()
    came = [
        tags.index(tag) + 1
        for tag in Sender.list_tags(sender.collect_messages_until_silence(next_session, 1))
        if tag in tags
    ]
    judge.all(expected=[4], observed=came, case="numbers of the messages sent again", evidence=[*sent, ack])
    next_session.acknowledge_all()
    beside.session.close()
    judge.all(
        expected=RESENT_OUTCOME, observed=beside.await_resend(1), case="message to another queue", evidence=beside.sent
    )
    beside.session.acknowledge_all()


def _select_numbers_in_range(first: int, last: int, numbers: Iterable[int]) -> list[int]:
    return [at for at in sorted(numbers) if first <= at <= last]


@needs("send")
@covers("MQQB-3.1.5.5.3-03")
@varied("response queue", "time to be received")
def test_session_ack_after_order_ack_deletes_transactional_message(peer, sut, judge):
    """The peer acknowledges a transactional message by an OrderAck and then by a SessionAck. The SUT does not send the
    message on the next session.
    """
    outgoing = SequenceSentBySut(peer, sut)
    [sent] = outgoing.send()
    session = outgoing.session
    frames = [sent, session.send(build_order_ack(peer, sent)), session.acknowledge_all()]
    session.stays_quiet()
    session.close()
    outgoing.send()
    next_session = outgoing.session
    next_session.stays_quiet()
    came = next_session.messages
    judge(
        "MQQB-3.1.5.5.3-03",
        expected=[2],
        observed=outgoing.list_sequence_numbers_on_session(next_session),
        case="numbers of the messages on the next session",
        evidence=[*frames, *came],
    )
    next_session.acknowledge_all()
