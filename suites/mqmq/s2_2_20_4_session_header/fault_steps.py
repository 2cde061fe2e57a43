"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session

LOWEST_ACK_CLASS = 2


def is_acknowledgment(packet: UserMessagePacket) -> bool:
    """Return whether a message is an acknowledgment."""
    return packet.MessagePropertiesHeader.MessageClass >= LOWEST_ACK_CLASS


class SentSessionHeaderChanger(SessionAcks):
    """Change each SessionHeader that the queue manager sends; a subclass defines the change."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        """Return the header that the queue manager sends."""
        return header

    def build_session_header(self, session: Session) -> SessionHeader:
        return self.change(session, super().build_session_header(session))
