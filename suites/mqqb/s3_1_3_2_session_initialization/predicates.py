"""Judge the initial values that a new session shows in packets. Spec: MS-MQQB 3.1.3.2."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqmq.steps.session_headers import (
    SESSION_ACK_KIND,
    USER_MESSAGE_KIND,
    check_ack_sequence_number,
    check_acknowledged_messages_arrived,
    check_first_acknowledged_message_is_1,
    check_recoverable_msg_seq_number,
    check_user_msg_sequence_number,
    make_session_header_predicate,
)


@passive("MQQB-3.1.3.2-24", "ConnectionParameters", "WindowSize is 64 in ConnectionParameters")
def check_window_size(packet: Any, context: Context) -> Finding:
    """Check that WindowSize of the SUT, as initiator and as acceptor, is 64."""
    size = packet.ConnectionParametersHeader.WindowSize
    return size == 64, f"WindowSize is {size}"


for rule, expected, judge in (
    (
        "MQQB-3.1.3.2-02",
        "UserMsgSequenceNumber of the first header counts the messages sent",
        check_user_msg_sequence_number,
    ),
    (
        "MQQB-3.1.3.2-03",
        "RecoverableMsgSeqNumber of the first header counts the recoverable messages sent",
        check_recoverable_msg_seq_number,
    ),
    (
        "MQQB-3.1.3.2-04",
        "AckSequenceNumber of the first header counts messages that arrived",
        check_ack_sequence_number,
    ),
    (
        "MQQB-3.1.3.2-06",
        "RecoverableMsgAckFlags of the first header acknowledges messages that arrived",
        check_acknowledged_messages_arrived,
    ),
):
    passive(rule, (SESSION_ACK_KIND, USER_MESSAGE_KIND), expected, of_system=True)(
        make_session_header_predicate(judge, only_first=True)
    )

passive(
    "MQQB-3.1.3.2-07",
    (SESSION_ACK_KIND, USER_MESSAGE_KIND),
    "the first acknowledged recoverable message is number 1",
    of_system=True,
)(make_session_header_predicate(check_first_acknowledged_message_is_1))
