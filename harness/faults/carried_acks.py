"""A part for faults that handle a session acknowledgment in a SessionAck Packet and in a UserMessage differently."""

from __future__ import annotations

from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


class CarrierAwareSessionAcks(SessionAcks):
    """A part of the queue manager that handles session acknowledgments, and knows whether the acknowledgment that it is
    handling arrived in a SessionAck Packet or in a UserMessage.
    """

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        """Handle the acknowledgment of a SessionAck Packet."""
        self.__dict__["in_session_ack_packet"] = True
        super().receive(session, packet, now)
        self.__dict__["in_session_ack_packet"] = False

    @property
    def is_carried_by_session_ack_packet(self) -> bool:
        """Whether the acknowledgment that is being handled arrived in a SessionAck Packet, and not in a UserMessage."""
        return bool(self.__dict__.get("in_session_ack_packet"))
