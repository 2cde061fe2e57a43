"""Faults of MS-MQQB 3.1.5.1.1 Identifying Packet Type, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import FormatError, MessageClass, Packet, SessionAckPacket, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import ORDER_ACK_LABEL
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now


def _remove_label(packet: UserMessagePacket) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, Label="")
    return replace(packet, MessagePropertiesHeader=properties)


@fault("sender-final-ack-of-class-0x4000-taken-as-message", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderFinalAckOfClass0x4000TakenAsMessage(Receiving):
    """The sender identifies a FinalAck only by a class above 0x4000, so a FinalAck of class ACK_RECEIVE completes no
    message.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if packet.MessagePropertiesHeader.MessageClass == 0x4000:
            packet = _remove_label(packet)
        super().take_message(session, packet, receipt, now)


@fault("sender-report-or-arrival-ack-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderReportOrArrivalAckTakenAsFinalAck(Receiving):
    """The sender treats a message for order_queue$ with the label of an OrderAck and the class 0x0001 or 0x0002 as a
    FinalAck.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and properties.MessageClass in (1, 2):
            packet = replace(packet, MessagePropertiesHeader=replace(properties, MessageClass=0x8000))
        super().take_message(session, packet, receipt, now)


@fault("receiver-message-with-label-of-order-ack-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverMessageWithLabelOfOrderAckDropped(Receiving):
    """The receiver drops a message of class NORMAL whose label is QM Ordering Ack, regardless of its destination."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and not properties.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


@fault("receiver-message-of-36-bytes-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverMessageOf36BytesDropped(Receiving):
    """The receiver drops a message of class NORMAL whose body has 36 bytes."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) == 36 and not properties.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


@fault("initiator-message-on-own-session-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class InitiatorMessageOnOwnSessionDropped(Receiving):
    """A queue manager drops a message of class NORMAL that arrives on a session that the queue manager
    itself opened.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if session.initiator and not packet.MessagePropertiesHeader.MessageClass:
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)


class _LowBitsOfType(Identifying):
    low = 0

    def identify_packet(self, data: bytes) -> Packet:
        flags = int.from_bytes(data[18:20], "little") if len(data) >= 20 and data[2] & 0x08 else 0
        if flags & 0xF not in (0, 1, 2, 3) and flags & 0x3 == self.low:
            data = data[:18] + (flags & ~0xC).to_bytes(2, "little") + data[20:]
        return super().identify_packet(data)


@fault("queue-manager-packet-type-6-taken-as-establish-connection", breaks="MQQB-3.1.5.1.1-01", blind=True)
class QueueManagerPacketType6TakenAsEstablishConnection(_LowBitsOfType):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x6 as an
    EstablishConnection.
    """

    low = 2


@fault("queue-manager-packet-type-7-taken-as-connection-parameters", breaks="MQQB-3.1.5.1.1-02", blind=True)
class QueueManagerPacketType7TakenAsConnectionParameters(_LowBitsOfType):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x7 as a
    ConnectionParameters.
    """

    low = 3


@fault("queue-manager-packet-type-5-taken-as-session-ack", breaks="MQQB-3.1.5.1.1-03", blind=True)
class QueueManagerPacketType5TakenAsSessionAck(_LowBitsOfType):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x5 as a SessionAck."""

    low = 1


@fault("queue-manager-session-ack-with-priority-0-not-identified", breaks="MQQB-3.1.5.1.1-03", blind=True)
class QueueManagerSessionAckWithPriority0NotIdentified(Identifying):
    """The queue manager identifies a SessionAck only if BaseHeader.Flags.PR is not 0, and refuses other SessionAcks."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, SessionAckPacket) and packet.BaseHeader.PR == 0:
            raise FormatError("BaseHeader.PR", 0, "a fault", "is 0")
        return packet


class _CorrectingPackets(Receiving):
    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        return packet

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        super().take_message(session, self.correct(packet), receipt, now)


@fault(
    "sender-ordering-ack-with-priority-identified",
    breaks=("MQQB-3.1.5.1.1-04", "MQQB-3.1.5.1.1-09"),
    blind=True,
)
class SenderOrderingAckWithPriorityIdentified(_CorrectingPackets):
    """The sender accepts OrderAcks and FinalAcks whose BaseHeader.Flags contain a priority but no other bit."""

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.MessagePropertiesHeader.Label == "QM Ordering Ack" and not packet.BaseHeader.Flags & ~0x7:
            return set_fields(packet, {"BaseHeader.Flags": 0})
        return packet


@fault(
    "sender-ordering-ack-label-compared-by-prefix",
    breaks=("MQQB-3.1.5.1.1-06", "MQQB-3.1.5.1.1-11"),
    blind=True,
)
class SenderOrderingAckLabelComparedByPrefix(_CorrectingPackets):
    """The sender accepts OrderAcks and FinalAcks whose label only begins with QM Ordering Ack."""

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        label = packet.MessagePropertiesHeader.Label or ""
        if label.startswith("QM Ordering Ack") and label != "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.Label": "QM Ordering Ack"})
        return packet


@fault(
    "sender-ordering-ack-label-compared-without-case",
    breaks=("MQQB-3.1.5.1.1-06", "MQQB-3.1.5.1.1-11"),
    blind=True,
)
class SenderOrderingAckLabelComparedWithoutCase(_CorrectingPackets):
    """The sender accepts OrderAcks and FinalAcks whose label differs from QM Ordering Ack only in upper
    and lower case.
    """

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        label = packet.MessagePropertiesHeader.Label or ""
        if label.lower() == "qm ordering ack" and label != "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.Label": "QM Ordering Ack"})
        return packet


@fault("sender-order-ack-body-longer-than-36-bytes-identified", breaks="MQQB-3.1.5.1.1-07", blind=True)
class SenderOrderAckBodyLongerThan36BytesIdentified(_CorrectingPackets):
    """The sender accepts an OrderAck whose body has more than 36 bytes, and reads the first 36 bytes."""

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK and len(properties.MessageBody) > 36:
            return set_fields(packet, {"MessagePropertiesHeader.MessageBody": properties.MessageBody[:36]})
        return packet


@fault("sender-order-ack-of-class-report-identified", breaks="MQQB-3.1.5.1.1-08", blind=True)
class SenderOrderAckOfClassReportIdentified(_CorrectingPackets):
    """The sender treats a message of class REPORT with the label and the body of an OrderAck as an OrderAck."""

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass == MessageClass.MQMSG_CLASS_REPORT and properties.Label == "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.MessageClass": MessageClass.MQMSG_CLASS_ORDER_ACK})
        return packet


@fault("sender-final-ack-of-class-ack-reach-queue-identified", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderFinalAckOfClassAckReachQueueIdentified(_CorrectingPackets):
    """The sender treats a message of class ACK_REACH_QUEUE, which is below 0x4000, as a FinalAck of
    class ACK_RECEIVE.
    """

    def correct(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if (
            properties.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
            and properties.Label == "QM Ordering Ack"
        ):
            return set_fields(packet, {"MessagePropertiesHeader.MessageClass": MessageClass.MQMSG_CLASS_ACK_RECEIVE})
        return packet


@fault("receiver-normal-message-with-ordering-label-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverNormalMessageWithOrderingLabelDropped(Receiving):
    """The receiver acknowledges and drops a message of class NORMAL whose label is QM Ordering Ack."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if (
            packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
            and not packet.MessagePropertiesHeader.MessageClass
        ):
            receipt.done = True
            return
        super().take_message(session, packet, receipt, now)
