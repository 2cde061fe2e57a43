"""Blind violations of round five: MS-MQQB 3.1.5.2.3 Sending an EstablishConnection Request Packet."""

from __future__ import annotations

from typing import Any

from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, clear_internal_flag
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session


def _is_request_for_routed_message(qm: QueueManager, session: Session, packet: Any) -> bool:
    own = qm.adm.Identifier
    waiting = (position.UserMessage.UserHeader for position in session.OutgoingMessageTable)
    return session.initiator and any(header.SourceQueueManager != own for header in waiting)


add(
    "initiator-establish-connection-request-in-clear-for-routed-message",
    "MQQB-3.1.5.2.3-04",
    "The initiator's EstablishConnection request has BaseHeader.Flags.IN clear if a message of another queue manager "
    "waits for the session.",
    change_sent_packet(EstablishConnectionPacket, clear_internal_flag, _is_request_for_routed_message),
    blind=True,
)
