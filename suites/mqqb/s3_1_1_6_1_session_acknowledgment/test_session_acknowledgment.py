"""MS-MQQB 3.1.1.6.1 Session Acknowledgment: the sender discards messages that a SessionAck acknowledges."""

from __future__ import annotations

from typing import Any

import pytest

from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers
from harness.wire import session_ack
from suites.mqqb.steps.sequences import SequenceSentBySut


@covers("MQQB-3.1.1.6.1-01", "MQQB-3.1.1.6.1-02", "MQQB-3.1.1.6.1-03", "MQQB-3.1.1.6.1-04")
@pytest.mark.parametrize("carrier", ["SessionAck", "UserMessage"])
def test_messages_acknowledged_on_the_session_are_discarded(peer, sut, judge, carrier):
    """By a SessionAck, or by the SessionHeader of a message, the peer acknowledges four of six express and recoverable
    messages. On the next session, the SUT sends only the other two. Before the SUT has received a recoverable message,
    its acknowledgment has 0 in the fields for recoverable messages.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-discarded")
    sent = outgoing.send(2, "express") + outgoing.send(3, "recoverable") + outgoing.send(1, "express")
    session = outgoing.session
    own = session.send(peer.message())
    answer = session.expect("SessionAck", within_ms=sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS))
    header = answer["SessionHeader"]
    judge(
        "MQQB-3.1.1.6.1-03",
        expected=0,
        observed=header.RecoverableMsgAckSeqNumber,
        case="RecoverableMsgAckSeqNumber",
        evidence=[own, answer],
    )
    judge(
        "MQQB-3.1.1.6.1-04",
        expected=0,
        observed=header.RecoverableMsgAckFlags,
        case="RecoverableMsgAckFlags",
        evidence=[own, answer],
    )
    fields: dict[str, Any] = {"AckSequenceNumber": 4, "RecoverableMsgAckSeqNumber": 1, "RecoverableMsgAckFlags": 0b11}
    if carrier == "SessionAck":
        ack = session.send(session_ack(**fields, UserMsgSequenceNumber=1))
    else:  # the message counts itself
        ack = session.send(peer.message(session=fields | {"UserMsgSequenceNumber": 2, "WindowSize": 64}))
    peer.settle()
    session.close()
    again = outgoing.await_session()
    while not again.stays_quiet():
        pass
    came, evidence = outgoing.list_sequence_numbers_on_session(again), [*sent, ack, again.last]
    for rule, kind, expected in (
        ("MQQB-3.1.1.6.1-01", (1, 2, 6), [6]),
        ("MQQB-3.1.1.6.1-02", (3, 4, 5), [5]),
    ):
        observed = [number for number in came if number in kind]
        judge(rule, expected=expected, observed=observed, case="numbers of the messages sent again", evidence=evidence)
    outgoing.send_session_ack()
