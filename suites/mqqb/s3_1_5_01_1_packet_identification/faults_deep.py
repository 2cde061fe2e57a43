"""Faults of MS-MQQB 3.1.5.1.1 Identifying Packet Type, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _without_label(packet: UserMessagePacket) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, Label="")
    return replace(packet, MessagePropertiesHeader=properties)


@fault("sender-final-ack-of-class-0x4000-taken-as-message", breaks="MQQB-3.1.5.1.1-12", blind=True)
class OnlyGreaterClasses(Receiving):
    """The sender identifies a FinalAck only by a class above 0x4000, so ACK_RECEIVE completes no message."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageClass == 0x4000:
            packet = _without_label(packet)
        super().take_message(session, packet, receipt, now)


@fault("sender-report-or-arrival-ack-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class ReportsComplete(Receiving):
    """The sender treats a message for order_queue$ with the label of an OrderAck and the class 0x0001 or 0x0002 as a
    FinalAck.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and properties.MessageClass in (1, 2):
            packet = replace(packet, MessagePropertiesHeader=replace(properties, MessageClass=0x8000))
        super().take_message(session, packet, receipt, now)


@fault("receiver-message-with-label-of-order-ack-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class LabelDropped(Receiving):
    """The receiver drops a message of class NORMAL whose label is QM Ordering Ack, regardless of its destination."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and not properties.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


@fault("receiver-message-of-36-bytes-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class SizeDropped(Receiving):
    """The receiver drops a message of class NORMAL whose body has 36 bytes."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) == 36 and not properties.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


@fault("initiator-message-on-own-session-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class MessageOnOwnSessionDropped(Receiving):
    """A queue manager drops a message of class NORMAL that arrives on a session that the queue manager
    itself opened.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if session.initiator and not packet.MessagePropertiesHeader.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)
