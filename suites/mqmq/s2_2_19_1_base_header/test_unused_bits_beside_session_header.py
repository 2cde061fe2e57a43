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
    """The SUT sends a recoverable message for each unused bit. The peer acknowledges each message, before the next one
    is sent, in the SessionHeader of a message with that bit set. The peer then closes the session. On the next session,
    the SUT sends a further message, and none of the acknowledged messages.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-unused-bits"))
    sender.send(1, delivery="recoverable")
    session, _ = sender.await_first_messages(1)
    acks = []
    for number, bit in enumerate(UNUSED_BIT_BY_RULE.values(), 1):
        if number > 1:
            sender.send(number, delivery="recoverable")
            peer.eventually(lambda wanted=number: wanted in Sender.list_tags(session.messages))
        if number not in Sender.list_tags(session.messages):
            break  # the SUT has closed the session
        count = len(session.messages)
        earlier = [frame for frame in session.sent if frame.kind == "UserMessage"]
        header = {
            "AckSequenceNumber": count,
            "RecoverableMsgAckSeqNumber": count,
            "RecoverableMsgAckFlags": 1,
            "UserMsgSequenceNumber": len(earlier) + 1,
            "RecoverableMsgSeqNumber": sum(frame["UserHeader"].DM == 1 for frame in earlier),
        }
        acks.append(session.send(peer.message(base={bit: 1}, session=header)))
        peer.settle()
    session.close()
    sender.send(len(UNUSED_BIT_BY_RULE) + 1, delivery="recoverable")
    later = sender.await_session()
    frames = sender.collect_messages_until_silence(later, 1)
    again = Sender.list_tags(frames)
    for number, (rule, bit) in enumerate(UNUSED_BIT_BY_RULE.items(), 1):
        if number > len(acks):
            judge.mark_not_exercised(rule, reason="the SUT closed the session after an earlier unused bit")
            continue
        judge(
            rule,
            expected=ACKNOWLEDGED_OUTCOME,
            observed=SENT_AGAIN_OUTCOME if number in again else ACKNOWLEDGED_OUTCOME,
            case=f"message that the SessionHeader of a message with {bit} set acknowledges",
            evidence=[acks[number - 1], *frames],
        )
    later.acknowledge_all()
