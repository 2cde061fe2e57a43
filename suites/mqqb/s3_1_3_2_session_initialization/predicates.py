"""Judge the initial values that a new session shows in packets. Spec: MS-MQQB 3.1.3.2."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqmq.steps.session_headers import (
    MESSAGE,
    SESSION_ACK,
    acknowledges_what_came,
    begins_with_1,
    counts_sent,
    counts_sent_recoverable,
    flags_what_came,
    of_header,
)


@passive("MQQB-3.1.3.2-24", "ConnectionParameters", "WindowSize is 64")
def window_size(packet: Any, context: Context) -> Finding:
    """Demand WindowSize 64 of the SUT, as initiator and as acceptor."""
    size = packet.ConnectionParametersHeader.WindowSize
    return size == 64, f"WindowSize is {size}"


for rule, expected, judge in (
    ("MQQB-3.1.3.2-02", "UserMsgSequenceNumber of the first header counts the messages sent", counts_sent),
    ("MQQB-3.1.3.2-03", "RecoverableMsgSeqNumber of it counts the recoverable ones sent", counts_sent_recoverable),
    ("MQQB-3.1.3.2-04", "AckSequenceNumber of it counts messages that came", acknowledges_what_came),
    ("MQQB-3.1.3.2-06", "RecoverableMsgAckFlags of it names messages that came", flags_what_came),
):
    passive(rule, (SESSION_ACK, MESSAGE), expected, of_system=True)(of_header(judge, only_first=True))

passive(
    "MQQB-3.1.3.2-07", (SESSION_ACK, MESSAGE), "the first acknowledged recoverable message is number 1", of_system=True
)(of_header(begins_with_1))
