"""Faults that break rules of MS-MQQB 3.1.5.8.7 in one bit of the SessionAck after 32 messages, or in a later one."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import BaseHeader, SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session

_ALL_RECOVERABLE_ACK_FLAGS = 0xFFFFFFFF
_SESSION_HEADER_BIT = BaseHeader.flags(SH=1)


def _has_all_ack_flags(packet: SessionAckPacket) -> bool:
    return packet.SessionHeader.RecoverableMsgAckFlags == _ALL_RECOVERABLE_ACK_FLAGS


@fault("receiver-second-session-ack-after-32-messages-has-sh-clear", breaks="MQQB-3.1.5.8.7-03", blind=True)
class ReceiverSecondSessionAckAfter32MessagesHasShClear(SessionAcks):
    """The receiver's second SessionAck after 32 recoverable messages of a session has SH clear."""

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        if not _has_all_ack_flags(packet):
            return packet
        seen = self.__dict__.setdefault("full_acks", set())
        if session.number not in seen:
            seen.add(session.number)
            return packet
        return replace(
            packet, BaseHeader=replace(packet.BaseHeader, Flags=packet.BaseHeader.Flags & ~_SESSION_HEADER_BIT)
        )
