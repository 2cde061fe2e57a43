"""Faults of MQDMPR-3.1.1.12-58 and MQDMPR-3.1.1.12-65: attributes that the queue manager has to ignore."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-connector-type-suppresses-arrival-acknowledgment", breaks="MQDMPR-3.1.1.12-58", blind=True)
class ReceiverConnectorTypeSuppressesArrivalAcknowledgment(AdminAcks):
    """The receiver does not acknowledge the arrival of a message with a ConnectorTypeIdentifier."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if not position.MessageReference.ConnectorTypeIdentifier.int:
            super().acknowledge_arrival(position, now)


@fault("receiver-second-connector-type-refused", breaks="MQDMPR-3.1.1.12-58", blind=True)
class ReceiverSecondConnectorTypeRefused(MessageAdmission):
    """The receiver refuses a message whose ConnectorTypeIdentifier differs from that of the first received message with
    a ConnectorTypeIdentifier.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: object = None

    def admit(self, session: Session, packet: UserMessagePacket, *arguments: Any) -> UserMessagePacket | None:
        connector = packet.UserHeader.ConnectorType
        if connector is not None:
            self.known = self.known or connector
            if connector != self.known:
                return None
        return super().admit(session, packet, *arguments)


@fault("receiver-soap-envelope-above-4-kilobytes-refused", breaks="MQDMPR-3.1.1.12-65", blind=True)
class ReceiverSoapEnvelopeAbove4KilobytesRefused(MessageAdmission):
    """The receiver discards a message whose SoapHeader has more than 2,000 characters."""

    def admit(self, session: Session, packet: UserMessagePacket, *arguments: Any) -> UserMessagePacket | None:
        soap = packet.SoapHeader
        if soap is not None and len(soap.build()) > 4000:
            return None
        return super().admit(session, packet, *arguments)


@fault("receiver-soap-envelope-that-is-no-xml-refused", breaks="MQDMPR-3.1.1.12-65", blind=True)
class ReceiverSoapEnvelopeThatIsNoXmlRefused(MessageAdmission):
    """The receiver discards a message whose SoapHeader does not begin with a less-than sign."""

    def admit(self, session: Session, packet: UserMessagePacket, *arguments: Any) -> UserMessagePacket | None:
        soap = packet.SoapHeader
        if soap is not None and "<" not in soap.build().decode("utf-16-le", "replace"):
            return None
        return super().admit(session, packet, *arguments)
