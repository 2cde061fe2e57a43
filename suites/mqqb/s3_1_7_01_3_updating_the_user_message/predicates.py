"""Judge the SessionHeader of every message. The predicate compares the header with the packets that both sides sent
before the message. Spec: MS-MQQB 3.1.7.1.3.
"""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqmq.steps.session_headers import (
    SESSION_ACK_KIND,
    USER_MESSAGE_KIND,
    SessionMessageCounts,
    check_ack_sequence_number,
    check_acknowledged_messages_are_new,
    check_acknowledged_messages_arrived,
    check_no_message_is_acknowledged_twice,
    check_recoverable_msg_seq_number,
    check_user_msg_sequence_number,
    make_session_header_predicate,
)


def _check_values_of_session_ack(packet: Any, counts: SessionMessageCounts) -> Finding:
    """Check that a SessionHeader in a message fulfils every rule about the values of a SessionAck."""
    judges = (
        check_user_msg_sequence_number,
        check_recoverable_msg_seq_number,
        check_ack_sequence_number,
        check_acknowledged_messages_arrived,
        check_no_message_is_acknowledged_twice,
    )
    findings = [finding for judge in judges if isinstance(finding := judge(packet, counts), tuple)]
    wrong = [observed for kept, observed in findings if not kept]
    return not wrong, ", ".join(wrong) or "the counts equal the numbers of messages sent and received"


for rule, expected, judge in (
    ("MQQB-3.1.7.1.3-11", "UserMsgSequenceNumber counts the messages sent", check_user_msg_sequence_number),
    (
        "MQQB-3.1.7.1.3-13",
        "RecoverableMsgSeqNumber counts the recoverable messages sent",
        check_recoverable_msg_seq_number,
    ),
):
    passive(rule, (SESSION_ACK_KIND, USER_MESSAGE_KIND), expected, of_system=True)(make_session_header_predicate(judge))

for rule, expected, judge in (
    ("MQQB-3.1.7.1.3-15", "the counts equal the numbers of messages sent and received", _check_values_of_session_ack),
    ("MQQB-3.1.7.1.3-16", "AckSequenceNumber counts messages that arrived", check_ack_sequence_number),
    (
        "MQQB-3.1.7.1.3-17",
        "RecoverableMsgAckSeqNumber is the number of a message that was not acknowledged before",
        check_acknowledged_messages_are_new,
    ),
    ("MQQB-3.1.7.1.3-18", "UserMsgSequenceNumber counts the messages sent", check_user_msg_sequence_number),
    (
        "MQQB-3.1.7.1.3-19",
        "RecoverableMsgSeqNumber counts the recoverable messages sent",
        check_recoverable_msg_seq_number,
    ),
    (
        "MQQB-3.1.7.1.3-20",
        "RecoverableMsgAckFlags acknowledges messages that arrived",
        check_acknowledged_messages_arrived,
    ),
):
    passive(rule, USER_MESSAGE_KIND, expected, of_system=True)(make_session_header_predicate(judge))
