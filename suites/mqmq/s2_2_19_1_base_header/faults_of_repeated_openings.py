"""Faults in BaseHeader.Flags.IN of internal packets that a queue manager sends later (MS-MQMQ 2.2.19.1)."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, clear_internal_flag, has_other_session, is_refused
from reference_qm.codec import ConnectionParametersPacket, EstablishConnectionPacket

add(
    "acceptor-establish-connection-refusal-in-clear",
    "MQMQ-2.2.19.1-05",
    "The acceptor clears BaseHeader.Flags.IN in the EstablishConnection response that refuses a session.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, is_refused),
    blind=True,
)
add(
    "queue-manager-connection-parameters-of-second-session-in-clear",
    "MQMQ-2.2.19.1-05",
    "A queue manager clears BaseHeader.Flags.IN in ConnectionParameters packets while it has another open session.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, has_other_session),
    blind=True,
)
