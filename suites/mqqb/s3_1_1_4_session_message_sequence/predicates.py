"""Judge the counts of sent messages in every SessionHeader. Spec: MS-MQQB 3.1.1.4."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqmq.steps.session_headers import (
    SESSION_ACK_KIND,
    USER_MESSAGE_KIND,
    check_recoverable_msg_seq_number,
    check_user_msg_sequence_number,
    make_session_header_predicate,
)

for rule, expected, judge in (
    ("MQQB-3.1.1.4-01", "UserMsgSequenceNumber is the number of messages sent, from 1", check_user_msg_sequence_number),
    (
        "MQQB-3.1.1.4-D01",
        "RecoverableMsgSeqNumber counts the recoverable and the transactional messages sent",
        check_recoverable_msg_seq_number,
    ),
):
    passive(rule, (SESSION_ACK_KIND, USER_MESSAGE_KIND), expected, of_system=True)(make_session_header_predicate(judge))
