"""Faults of the fifth round that break rules of MS-MQQB 2.2.2 ConnectionParameters Packet."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.session_packets import change_sent_packet, clear_internal_flag
from reference_qm.codec import ConnectionParametersPacket, MessageClass
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session


def _is_session_for_own_messages(qm: QueueManager, session: Session, packet: object) -> bool:
    classes = {one.MessagePosition.MessageReference.Class for one in session.OutgoingMessageTable}
    return session.initiator and bool(classes) and MessageClass.MQMSG_CLASS_NORMAL not in classes


add(
    "initiator-connection-parameters-internal-flag-clear-on-session-for-acknowledgments",
    "MQQB-2.2.2-01",
    "The initiator clears IN in the ConnectionParameters request of a session that it opens only for acknowledgments "
    "and reports.",
    change_sent_packet(ConnectionParametersPacket, clear_internal_flag, _is_session_for_own_messages),
    blind=True,
)
