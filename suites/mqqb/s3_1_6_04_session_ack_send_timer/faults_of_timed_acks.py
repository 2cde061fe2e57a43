"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event: flags of some of the SessionAcks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

BASE_FLAGS_OFFSET, INTERNAL_FLAGS_OFFSET = 2, 18
"""The offsets of the low bytes of BaseHeader.Flags and InternalHeader.Flags in a packet."""
SESSION_HEADER_MASK, PACKET_TYPE_MASK = 0x10, 0x0F


class _SessionAckAtTimerExpiry(SessionAcks):
    """A base class of faults in the SessionAcks that the receiver sends when the Session Ack Send Timer expires."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.timed = False

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.timed = True
        super().on_order_ack_send_timer(session, now)
        self.timed = False

    def send(self, session: Session, now: Now) -> None:
        if not self.timed:
            super().send(session, now)
            return
        packet = bytearray(self.build(session).build())
        self.change(session, packet)
        self.qm.session_connecting.send(session, bytes(packet))
        self.reset_unacknowledged_counts(session, now)

    def change(self, session: Session, packet: bytearray) -> None:
        """Change the bytes of a packet."""
        raise NotImplementedError


@fault("receiver-session-header-flag-clear-in-session-ack-on-own-session", breaks="MQQB-3.1.6.4-02", blind=True)
class ReceiverSessionHeaderFlagClearInSessionAckOnOwnSession(_SessionAckAtTimerExpiry):
    """SH is clear in the SessionAcks on a session that the receiver opened itself."""

    def change(self, session: Session, packet: bytearray) -> None:
        if session.initiator:
            packet[BASE_FLAGS_OFFSET] &= ~SESSION_HEADER_MASK


@fault("receiver-packet-type-is-0-in-session-ack-of-recoverable-messages", breaks="MQQB-3.1.6.4-03", blind=True)
class ReceiverPacketTypeIs0InSessionAckOfRecoverableMessages(_SessionAckAtTimerExpiry):
    """PT is 0 in a SessionAck that acknowledges recoverable messages."""

    def change(self, session: Session, packet: bytearray) -> None:
        if session.RecoverableMsgAckFlags:
            packet[INTERNAL_FLAGS_OFFSET] &= ~PACKET_TYPE_MASK


@fault("receiver-packet-type-is-3-in-later-session-acks-on-own-session", breaks="MQQB-3.1.6.4-03", blind=True)
class ReceiverPacketTypeIs3InLaterSessionAcksOnOwnSession(_SessionAckAtTimerExpiry):
    """PT is 3 in the later SessionAcks on a session that the receiver opened itself."""

    def change(self, session: Session, packet: bytearray) -> None:
        if session.initiator and session.MessageReceivedCount > session.UnackedReceivedMsgCount:
            packet[INTERNAL_FLAGS_OFFSET] = packet[INTERNAL_FLAGS_OFFSET] & ~PACKET_TYPE_MASK | 3
