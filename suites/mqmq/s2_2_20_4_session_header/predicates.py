"""Judge every SessionHeader by the messages that both sides sent before it. Spec: MS-MQMQ 2.2.20.4."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqmq.steps.session_headers import (
    SESSION_ACK_KIND,
    USER_MESSAGE_KIND,
    check_ack_sequence_number,
    check_acknowledged_messages_are_new,
    check_acknowledged_messages_arrived,
    check_number_is_0_before_first_recoverable_message,
    check_recoverable_msg_seq_number,
    check_user_msg_sequence_number,
    make_session_header_predicate,
    make_zero_before_first_recoverable_message_predicate,
)

for rule, expected, judge in (
    (
        "MQMQ-2.2.20.4-05",
        "AckSequenceNumber does not decrease, and is at most the number of messages received",
        check_ack_sequence_number,
    ),
    (
        "MQMQ-2.2.20.4-06",
        "RecoverableMsgAckSeqNumber is the number of a message that was not acknowledged before",
        check_acknowledged_messages_are_new,
    ),
    (
        "MQMQ-2.2.20.4-07",
        "RecoverableMsgAckSeqNumber is 0 until a recoverable message is received",
        make_zero_before_first_recoverable_message_predicate("RecoverableMsgAckSeqNumber"),
    ),
    ("MQMQ-2.2.20.4-09", "UserMsgSequenceNumber is the number of messages sent", check_user_msg_sequence_number),
    (
        "MQMQ-2.2.20.4-10",
        "RecoverableMsgSeqNumber is the number of recoverable messages sent",
        check_recoverable_msg_seq_number,
    ),
    (
        "MQMQ-2.2.20.4-11",
        "RecoverableMsgSeqNumber is 0 until a recoverable message is sent",
        check_number_is_0_before_first_recoverable_message,
    ),
    (
        "MQMQ-2.2.20.4-D02",
        "RecoverableMsgAckFlags acknowledges only messages that were received",
        check_acknowledged_messages_arrived,
    ),
):
    passive(rule, (SESSION_ACK_KIND, USER_MESSAGE_KIND), expected, of_system=True)(make_session_header_predicate(judge))
