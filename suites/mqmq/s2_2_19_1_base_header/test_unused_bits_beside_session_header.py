"""MS-MQMQ 2.2.19.1 BaseHeader: acknowledgments in messages with an unused bit of BaseHeader.Flags."""

from __future__ import annotations

from harness.run.marks import covers
from suites.mqqb.steps.sender import Sender

UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.19.1-10": "X9",
    "MQMQ-2.2.19.1-11": "X8",
    "MQMQ-2.2.19.1-14": "X6",
    "MQMQ-2.2.19.1-15": "X5",
    "MQMQ-2.2.19.1-16": "X4",
    "MQMQ-2.2.19.1-17": "X3",
    "MQMQ-2.2.19.1-18": "X2",
    "MQMQ-2.2.19.1-19": "X1",
    "MQMQ-2.2.19.1-20": "X0",
}
ACKNOWLEDGED_OUTCOME, SENT_AGAIN_OUTCOME = "acknowledged", "sent again"


@covers(*UNUSED_BIT_BY_RULE)
def test_unused_bit_does_not_hide_session_header(peer, sut, judge):
    """The SUT sends a recoverable message for each unused bit. The peer acknowledges each message in the SessionHeader
    of a message with that bit set, and closes the session. On the next session, the SUT sends a further message, and
    none of the acknowledged messages.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-unused-bits"))
    count = len(UNUSED_BIT_BY_RULE)
    sender.send(*range(1, count + 1), delivery="recoverable")
    session, sent = sender.await_first_messages(count)
    acks = []
    for number, bit in enumerate(UNUSED_BIT_BY_RULE.values(), 1):
        header = {
            "AckSequenceNumber": number,
            "RecoverableMsgAckSeqNumber": number,
            "RecoverableMsgAckFlags": 1,
            "UserMsgSequenceNumber": number,
        }
        acks.append(session.send(peer.message(base={bit: 1}, session=header)))
    peer.settle()
    session.close()
    sender.send(count + 1, delivery="recoverable")
    later = sender.await_session()
    frames = sender.collect_all(later, 1)
    again = Sender.list_tags(frames)
    for number, (rule, bit) in enumerate(UNUSED_BIT_BY_RULE.items(), 1):
        judge(
            rule,
            expected=ACKNOWLEDGED_OUTCOME,
            observed=SENT_AGAIN_OUTCOME if number in again else ACKNOWLEDGED_OUTCOME,
            case=f"message that the SessionHeader of a message with {bit} set acknowledges",
            evidence=[sent[number - 1], acks[number - 1], *frames],
        )
    later.acknowledge_all()
