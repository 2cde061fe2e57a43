"""Judge the SessionHeader of every message by the packets that both sides sent before it. Spec: MS-MQQB 3.1.7.1.3."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqmq.steps.session_headers import (
    MESSAGE,
    Counts,
    acknowledges_what_came,
    counts_sent,
    counts_sent_recoverable,
    flags_once,
    flags_what_came,
    names_fresh_messages,
    of_header,
)


def _is_as_a_session_ack(packet: Any, counts: Counts) -> Finding:
    """Demand everything that the rules demand of a SessionAck."""
    judges = (counts_sent, counts_sent_recoverable, acknowledges_what_came, flags_what_came, flags_once)
    findings = [finding for judge in judges if isinstance(finding := judge(packet, counts), tuple)]
    wrong = [observed for kept, observed in findings if not kept]
    return not wrong, ", ".join(wrong) or "its counts are those of both sides"


for rule, expected, judge in (
    ("MQQB-3.1.7.1.3-11", "UserMsgSequenceNumber counts the messages sent", counts_sent),
    ("MQQB-3.1.7.1.3-13", "RecoverableMsgSeqNumber counts the recoverable messages sent", counts_sent_recoverable),
    ("MQQB-3.1.7.1.3-15", "its counts are those of both sides", _is_as_a_session_ack),
    ("MQQB-3.1.7.1.3-16", "AckSequenceNumber counts messages that came", acknowledges_what_came),
    ("MQQB-3.1.7.1.3-17", "RecoverableMsgAckSeqNumber is that of a message not named before", names_fresh_messages),
    ("MQQB-3.1.7.1.3-18", "UserMsgSequenceNumber counts the messages sent", counts_sent),
    ("MQQB-3.1.7.1.3-19", "RecoverableMsgSeqNumber counts the recoverable messages sent", counts_sent_recoverable),
    ("MQQB-3.1.7.1.3-20", "RecoverableMsgAckFlags names messages that came", flags_what_came),
):
    passive(rule, MESSAGE, expected, of_system=True)(of_header(judge))
