"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session


@fault("receiver-session-ack-recoverable-sent-count-of-acknowledged", breaks="MQQB-3.1.6.4-07", blind=True)
class ReceiverSessionAckRecoverableSentCountOfAcknowledged(SessionAcks):
    """The receiver does not count its recoverable messages that are not yet acknowledged in RecoverableMsgSeqNumber of
    its SessionAck.
    """

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        waiting = sum(
            position.recoverable and not position.ReceivedSessionAck
            for position in session.OutgoingMessageTable.awaiting_ack
        )
        number = packet.SessionHeader.RecoverableMsgSeqNumber - waiting & 0xFFFF
        return replace(packet, SessionHeader=replace(packet.SessionHeader, RecoverableMsgSeqNumber=number))
