"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session

LARGE_BODY = 4096


FIRST_ACK_CLASS = 2


def is_large(packet: UserMessagePacket) -> bool:
    """Return whether the body of a message is longer than 4096 bytes."""
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY


def is_acknowledgment(packet: UserMessagePacket) -> bool:
    """Return whether a message is an acknowledgment."""
    return packet.MessagePropertiesHeader.MessageClass >= FIRST_ACK_CLASS


def is_transactional(packet: UserMessagePacket) -> bool:
    """Return whether a message has a TransactionHeader."""
    return packet.TransactionHeader is not None


def is_express(packet: UserMessagePacket) -> bool:
    """Return whether a message is express."""
    return not packet.UserHeader.DM


class Header(SessionAcks):
    """The queue manager changes each SessionHeader that it sends."""

    def change(self, session: Session, header: SessionHeader) -> SessionHeader:
        """Return the header that the queue manager sends."""
        return header

    def build_header(self, session: Session) -> SessionHeader:
        return self.change(session, super().build_header(session))
