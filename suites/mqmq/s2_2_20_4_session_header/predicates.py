"""Judge every SessionHeader by the messages that both sides sent before it. Spec: MS-MQMQ 2.2.20.4."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqmq.steps.session_headers import (
    MESSAGE,
    SESSION_ACK,
    acknowledges_what_came,
    counts_no_recoverable,
    counts_sent,
    counts_sent_recoverable,
    flags_what_came,
    is_zero_while_nothing_came,
    names_fresh_messages,
    of_header,
)

for rule, expected, judge in (
    ("MQMQ-2.2.20.4-05", "AckSequenceNumber counts messages that came", acknowledges_what_came),
    ("MQMQ-2.2.20.4-06", "RecoverableMsgAckSeqNumber is that of a message not named before", names_fresh_messages),
    (
        "MQMQ-2.2.20.4-07",
        "RecoverableMsgAckSeqNumber is 0 while no recoverable message came",
        is_zero_while_nothing_came("RecoverableMsgAckSeqNumber"),
    ),
    ("MQMQ-2.2.20.4-09", "UserMsgSequenceNumber counts the messages sent", counts_sent),
    ("MQMQ-2.2.20.4-10", "RecoverableMsgSeqNumber counts the recoverable messages sent", counts_sent_recoverable),
    ("MQMQ-2.2.20.4-11", "RecoverableMsgSeqNumber is 0 while no recoverable message was sent", counts_no_recoverable),
    ("MQMQ-2.2.20.4-D02", "RecoverableMsgAckFlags names messages that came", flags_what_came),
):
    passive(rule, (SESSION_ACK, MESSAGE), expected, of_system=True)(of_header(judge))
