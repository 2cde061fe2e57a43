"""MS-MQQB 3.1.5.5.2 Delete Acknowledged Express Messages: the messages that the SUT sends again on a later session."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.acknowledging import (
    MESSAGE_AS_HEADER_CARRIER,
    SESSION_ACK_AS_HEADER_CARRIER,
    send_session_header_in_carrier,
)
from suites.mqqb.steps.sender import Sender

RECOVERABLE_MESSAGE_POSITIONS = (3,)
"""The positions of the recoverable messages among the five messages."""
LARGE_BODY = "body" * 2_500


@covers("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01")
@pytest.mark.parametrize(
    ("acknowledged", "carrier"),
    [
        ((0,), SESSION_ACK_AS_HEADER_CARRIER),
        ((1,), SESSION_ACK_AS_HEADER_CARRIER),
        ((4,), SESSION_ACK_AS_HEADER_CARRIER),
        ((5,), SESSION_ACK_AS_HEADER_CARRIER),
        ((2, 2), SESSION_ACK_AS_HEADER_CARRIER),
        ((4,), MESSAGE_AS_HEADER_CARRIER),
    ],
)
def test_only_unacknowledged_express_messages_come_again(peer, sut, judge, acknowledged, carrier):
    """The peer sends AckSequenceNumber n. On the next session, the SUT sends no express message with a number up to n,
    and sends all other messages.

    Numbers on the next session begin with 1 again: if the peer acknowledges the first message of that session, the SUT
    does not send this message again.
    """
    sender = Sender(peer, sut)
    sender.send(1)
    sender.send(
        2, **{"acks": ["positive_arrival"], "admin_queue": peer.direct_name("mqc-acks")} if sut.has("send") else {}
    )
    sender.send(*RECOVERABLE_MESSAGE_POSITIONS, delivery="recoverable")
    sender.send(4, **{"body": LARGE_BODY} if sut.has("send") else {})
    sender.send(5)
    session, sent = sender.await_first_messages(5)
    expected = [1, 2, 3, 4, 5]
    acks = []
    for turn in range(2):
        for number in acknowledged if turn == 0 else (1,):
            acks.append(send_session_header_in_carrier(carrier, session, AckSequenceNumber=number))
        covered = Sender.list_tags(sent)[: acknowledged[-1] if turn == 0 else 1]
        expected = [tag for tag in expected if tag in RECOVERABLE_MESSAGE_POSITIONS or tag not in covered]
        peer.settle()
        session.close()
        session = sender.await_session()
        sent = sender.collect_messages_until_silence(session, len(expected))
        last = acknowledged[-1] if turn == 0 else 1
        case = f"numbers of the messages sent again after AckSequenceNumber {last} on session {turn + 1}"
        judge.all(expected=expected, observed=sorted(set(Sender.list_tags(sent))), case=case, evidence=[*acks, *sent])
    session.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.5.5-04", "MQQB-3.1.5.5.2-01")
@pytest.mark.parametrize("carrier", [SESSION_ACK_AS_HEADER_CARRIER, MESSAGE_AS_HEADER_CARRIER])
def test_express_messages_acknowledged_with_recoverable_ones_do_not_come_again(peer, sut, judge, carrier):
    """The SUT sends two express messages before and two after a recoverable message; the first and the fourth message
    request source journaling. One SessionHeader acknowledges the first four messages, and has the flag of the
    recoverable message set. On the next session, the SUT sends only the last message.
    """
    sender = Sender(peer, sut)
    sender.send(1, journal=["positive"])
    sender.send(2)
    sender.send(3, delivery="recoverable")
    sender.send(4, journal=["positive"])
    sender.send(5)
    session, sent = sender.await_first_messages(5)
    flags = {"RecoverableMsgAckSeqNumber": 1, "RecoverableMsgAckFlags": 1}
    ack = send_session_header_in_carrier(carrier, session, AckSequenceNumber=4, **flags)
    acknowledged = Sender.list_tags(sent)[:4]
    peer.settle()
    session.close()
    session = sender.await_session()
    again = sender.collect_messages_until_silence(session, 1)
    expected = [tag for tag in (1, 2, 3, 4, 5) if tag not in acknowledged]
    judge.all(
        expected=expected,
        observed=sorted(set(Sender.list_tags(again))),
        case="numbers of the messages on the next session",
        evidence=[ack, *again],
    )
    session.acknowledge_all()
