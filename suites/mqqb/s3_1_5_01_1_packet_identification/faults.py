"""Faults that break rules of MS-MQQB 3.1.5.1.1 Identifying Packet Type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.packet_sizes import identify_packets_by_size
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import filter_inputs, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    ConnectionParametersPacket,
    DirectQueueFormatName,
    EstablishConnectionPacket,
    FormatError,
    MessageClass,
    Packet,
    SessionAckPacket,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)
from reference_qm.core.names.queue_names import is_for_order_queue
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.order_acks import (
    FIRST_FINAL_ACK_CLASS,
    ORDER_ACK_BODY_SIZE,
    ORDER_ACK_LABEL,
    is_final_ack,
    is_order_ack,
)
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import BytesReceived, Input


def _refuse_packet_kind(kind: type[Packet]) -> Install:
    """Refuse every packet of the given kind."""

    class Unknown(Identifying):
        def identify_packet(self, data: bytes) -> Packet:
            packet = super().identify_packet(data)
            if isinstance(packet, kind):
                raise FormatError("InternalHeader.PT", 0, "a fault", "the value is not known")
            return packet

    return replace_part(Unknown)


add(
    "any-establish-connection-not-recognized",
    ("MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1-03"),
    "A queue manager does not recognize an EstablishConnection packet by PT 2.",
    _refuse_packet_kind(EstablishConnectionPacket),
)


class _PacketTypeReadFromTwoBits(Identifying):
    low = 0

    def identify_packet(self, data: bytes) -> Packet:
        flags = int.from_bytes(data[18:20], "little") if len(data) >= 20 and data[2] & 0x08 else 0
        if flags & 0xF not in (0, 1, 2, 3) and flags & 0x3 == self.low:
            data = data[:18] + (flags & ~0xC).to_bytes(2, "little") + data[20:]
        return super().identify_packet(data)


@fault("queue-manager-packet-type-6-taken-as-establish-connection", breaks="MQQB-3.1.5.1.1-01", blind=True)
class QueueManagerPacketType6TakenAsEstablishConnection(_PacketTypeReadFromTwoBits):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x6 as an
    EstablishConnection.
    """

    low = 2


add(
    "any-packet-of-32-bytes-taken-as-connection-parameters",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "A queue manager treats each packet of 32 bytes as a ConnectionParameters, regardless of IN.",
    identify_packets_by_size(32),
)


add(
    "any-connection-parameters-not-recognized",
    ("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03"),
    "A queue manager does not recognize a ConnectionParameters packet by PT 3.",
    _refuse_packet_kind(ConnectionParametersPacket),
)


@fault("queue-manager-packet-type-7-taken-as-connection-parameters", breaks="MQQB-3.1.5.1.1-02", blind=True)
class QueueManagerPacketType7TakenAsConnectionParameters(_PacketTypeReadFromTwoBits):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x7 as a
    ConnectionParameters.
    """

    low = 3


add(
    "any-packet-of-36-bytes-taken-as-session-ack",
    ("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"),
    "A queue manager treats each packet of 36 bytes as a SessionAck, regardless of IN.",
    identify_packets_by_size(36),
)


@fault("queue-manager-session-ack-with-sh-clear-accepted", breaks=("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03"))
class QueueManagerSessionAckWithShClearAccepted(Identifying):
    """A queue manager accepts a SessionAck with SH clear."""

    def check_field_values(self, packet: Packet) -> None:
        if not isinstance(packet, SessionAckPacket):
            super().check_field_values(packet)


@fault("queue-manager-packet-type-5-taken-as-session-ack", breaks="MQQB-3.1.5.1.1-03", blind=True)
class QueueManagerPacketType5TakenAsSessionAck(_PacketTypeReadFromTwoBits):
    """The queue manager reads only the two lowest bits of PT, so it accepts a packet with PT 0x5 as a SessionAck."""

    low = 1


@fault("queue-manager-session-ack-with-priority-0-not-identified", breaks="MQQB-3.1.5.1.1-03", blind=True)
class QueueManagerSessionAckWithPriority0NotIdentified(Identifying):
    """The queue manager identifies a SessionAck only if BaseHeader.Flags.PR is not 0, and refuses other SessionAcks."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, SessionAckPacket) and packet.BaseHeader.PR == 0:
            raise FormatError("BaseHeader.PR", 0, "a fault", "the value is 0")
        return packet


def _ignore_identifying_fields(identified: Callable[[UserMessagePacket], bool], fields: dict[str, Any]) -> Install:
    """Make the queue manager treat a message as an acknowledgment although the given fields show that it is not an
    acknowledgment.
    """

    def filter_received_bytes(event: Input) -> Iterable[Input]:
        if not isinstance(event, BytesReceived):
            return [event]
        try:
            packet: Packet = parse_packet(event.data)
        except FormatError:
            return [event]
        if not isinstance(packet, UserMessagePacket):
            return [event]
        changed = set_fields(packet, {"BaseHeader.PacketSize": 0, **fields})
        return [replace(event, data=changed.build())] if identified(changed) else [event]

    return filter_inputs(filter_received_bytes)


_CORRECT_FIELDS_OF_BASE_HEADER: dict[str, Any] = {"BaseHeader.Flags": 0, "SessionHeader": None, "DebugHeader": None}


_CORRECT_FIELDS_OF_ORDER_QUEUE_NAME: dict[str, Any] = {
    "UserHeader.DestinationQueue": DirectQueueFormatName(r"TCP:127.0.0.1\PRIVATE$\order_queue$"),
    "UserHeader.Flags": lambda old: old | UserHeader.flags(DQ=7),
}


_CORRECT_FIELDS_OF_ORDER_ACK_LABEL: dict[str, Any] = {"MessagePropertiesHeader.Label": ORDER_ACK_LABEL}


_CORRECT_FIELDS_OF_ACK_BODY: dict[str, Any] = {
    "MessagePropertiesHeader.MessageBody": lambda old: old[:ORDER_ACK_BODY_SIZE]
}


_CORRECT_FIELDS_OF_ORDER_ACK_CLASS: dict[str, Any] = {
    "MessagePropertiesHeader.MessageClass": int(MessageClass.MQMSG_CLASS_ORDER_ACK)
}


for _name, _rule, _field, _fields in (
    (
        "sender-order-ack-base-flags-not-checked",
        "MQQB-3.1.5.1.1-04",
        "BaseHeader.Flags",
        _CORRECT_FIELDS_OF_BASE_HEADER,
    ),
    (
        "sender-order-ack-destination-not-checked",
        "MQQB-3.1.5.1.1-05",
        "destination",
        _CORRECT_FIELDS_OF_ORDER_QUEUE_NAME,
    ),
    ("sender-order-ack-label-not-checked", "MQQB-3.1.5.1.1-06", "label", _CORRECT_FIELDS_OF_ORDER_ACK_LABEL),
    ("sender-order-ack-body-size-not-checked", "MQQB-3.1.5.1.1-07", "size", _CORRECT_FIELDS_OF_ACK_BODY),
    ("sender-order-ack-class-not-checked", "MQQB-3.1.5.1.1-08", "class", _CORRECT_FIELDS_OF_ORDER_ACK_CLASS),
):
    _says = f"The sender accepts a message as an OrderAck without checking its {_field}."
    add(_name, _rule, _says, _ignore_identifying_fields(is_order_ack, _fields))


class _PacketCorrector(MessageReceiving):
    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        return packet

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().put_received_message_into_queue(session, self.correct_packet(packet), receipt, now)


@fault(
    "sender-ordering-ack-with-priority-identified",
    breaks=("MQQB-3.1.5.1.1-04", "MQQB-3.1.5.1.1-09"),
    blind=True,
)
class SenderOrderingAckWithPriorityIdentified(_PacketCorrector):
    """The sender accepts OrderAcks and FinalAcks whose BaseHeader.Flags contain a priority but no other bit."""

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if packet.MessagePropertiesHeader.Label == "QM Ordering Ack" and not packet.BaseHeader.Flags & ~0x7:
            return set_fields(packet, {"BaseHeader.Flags": 0})
        return packet


@fault(
    "sender-ordering-ack-label-compared-by-prefix",
    breaks=("MQQB-3.1.5.1.1-06", "MQQB-3.1.5.1.1-11"),
    blind=True,
)
class SenderOrderingAckLabelComparedByPrefix(_PacketCorrector):
    """The sender accepts OrderAcks and FinalAcks whose label only begins with QM Ordering Ack."""

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        label = packet.MessagePropertiesHeader.Label or ""
        if label.startswith("QM Ordering Ack") and label != "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.Label": "QM Ordering Ack"})
        return packet


@fault(
    "sender-ordering-ack-label-compared-without-case",
    breaks=("MQQB-3.1.5.1.1-06", "MQQB-3.1.5.1.1-11"),
    blind=True,
)
class SenderOrderingAckLabelComparedWithoutCase(_PacketCorrector):
    """The sender accepts OrderAcks and FinalAcks whose label differs from QM Ordering Ack only in upper
    and lower case.
    """

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        label = packet.MessagePropertiesHeader.Label or ""
        if label.lower() == "qm ordering ack" and label != "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.Label": "QM Ordering Ack"})
        return packet


@fault("sender-order-ack-body-longer-than-36-bytes-identified", breaks="MQQB-3.1.5.1.1-07", blind=True)
class SenderOrderAckBodyLongerThan36BytesIdentified(_PacketCorrector):
    """The sender accepts an OrderAck whose body has more than 36 bytes, and reads the first 36 bytes."""

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass == MessageClass.MQMSG_CLASS_ORDER_ACK and len(properties.MessageBody) > 36:
            return set_fields(packet, {"MessagePropertiesHeader.MessageBody": properties.MessageBody[:36]})
        return packet


@fault("sender-order-ack-of-class-report-identified", breaks="MQQB-3.1.5.1.1-08", blind=True)
class SenderOrderAckOfClassReportIdentified(_PacketCorrector):
    """The sender treats a message of class REPORT with the label and the body of an OrderAck as an OrderAck."""

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if properties.MessageClass == MessageClass.MQMSG_CLASS_REPORT and properties.Label == "QM Ordering Ack":
            return set_fields(packet, {"MessagePropertiesHeader.MessageClass": MessageClass.MQMSG_CLASS_ORDER_ACK})
        return packet


_CORRECT_FIELDS_OF_FINAL_ACK_CLASS: dict[str, Any] = {
    "MessagePropertiesHeader.MessageClass": lambda old: max(old, FIRST_FINAL_ACK_CLASS)
}


for _name, _rule, _field, _fields in (
    (
        "sender-final-ack-base-flags-not-checked",
        "MQQB-3.1.5.1.1-09",
        "BaseHeader.Flags",
        _CORRECT_FIELDS_OF_BASE_HEADER,
    ),
    (
        "sender-final-ack-destination-not-checked",
        "MQQB-3.1.5.1.1-10",
        "destination",
        _CORRECT_FIELDS_OF_ORDER_QUEUE_NAME,
    ),
    ("sender-final-ack-label-not-checked", "MQQB-3.1.5.1.1-11", "label", _CORRECT_FIELDS_OF_ORDER_ACK_LABEL),
    ("sender-final-ack-class-not-checked", "MQQB-3.1.5.1.1-12", "class", _CORRECT_FIELDS_OF_FINAL_ACK_CLASS),
):
    _says = f"The sender accepts a message as a FinalAck without checking its {_field}."
    add(_name, _rule, _says, _ignore_identifying_fields(is_final_ack, _fields))


def _remove_label(packet: UserMessagePacket) -> UserMessagePacket:
    properties = replace(packet.MessagePropertiesHeader, Label="")
    return replace(packet, MessagePropertiesHeader=properties)


@fault("sender-final-ack-of-class-ack-receive-taken-as-message", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderFinalAckOfClassAckReceiveTakenAsMessage(MessageReceiving):
    """The sender identifies a FinalAck only by a class above 0x4000, so a FinalAck of class ACK_RECEIVE completes no
    message.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if packet.MessagePropertiesHeader.MessageClass == 0x4000:
            packet = _remove_label(packet)
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("sender-report-class-or-arrival-ack-class-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderReportClassOrArrivalAckClassTakenAsFinalAck(MessageReceiving):
    """The sender treats a message for order_queue$ with the label of an OrderAck and the class 0x0001 or 0x0002 as a
    FinalAck.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and properties.MessageClass in (1, 2):
            packet = replace(packet, MessagePropertiesHeader=replace(properties, MessageClass=0x8000))
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("sender-final-ack-of-class-ack-reach-queue-identified", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderFinalAckOfClassAckReachQueueIdentified(_PacketCorrector):
    """The sender treats a message of class ACK_REACH_QUEUE, which is below 0x4000, as a FinalAck of
    class ACK_RECEIVE.
    """

    def correct_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        properties = packet.MessagePropertiesHeader
        if (
            properties.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
            and properties.Label == "QM Ordering Ack"
        ):
            return set_fields(packet, {"MessagePropertiesHeader.MessageClass": MessageClass.MQMSG_CLASS_ACK_RECEIVE})
        return packet


@fault("receiver-user-message-of-class-normal-refused", breaks="MQQB-3.1.5.1.1-13")
class ReceiverUserMessageOfClassNormalRefused(Identifying):
    """The receiver refuses a UserMessage of class NORMAL as malformed."""

    def identify_packet(self, data: bytes) -> Packet:
        packet = super().identify_packet(data)
        if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == 0:
            raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "the value is NORMAL")
        return packet


@fault("receiver-message-with-label-of-order-ack-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverMessageWithLabelOfOrderAckDropped(MessageReceiving):
    """The receiver drops a message of class NORMAL whose label is QM Ordering Ack, regardless of its destination."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if properties.Label == ORDER_ACK_LABEL and not properties.MessageClass:
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-message-with-36-byte-body-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverMessageWith36ByteBodyDropped(MessageReceiving):
    """The receiver drops a message of class NORMAL whose body has 36 bytes."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if len(properties.MessageBody) == 36 and not properties.MessageClass:
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("initiator-normal-message-on-initiated-session-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class InitiatorNormalMessageOnInitiatedSessionDropped(MessageReceiving):
    """A queue manager drops a message of class NORMAL that arrives on a session that the queue manager
    itself opened.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if session.initiator and not packet.MessagePropertiesHeader.MessageClass:
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-normal-message-with-ordering-label-dropped", breaks="MQQB-3.1.5.1.1-13", blind=True)
class ReceiverNormalMessageWithOrderingLabelDropped(MessageReceiving):
    """The receiver acknowledges and drops a message of class NORMAL whose label is QM Ordering Ack."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if (
            packet.MessagePropertiesHeader.Label == "QM Ordering Ack"
            and not packet.MessagePropertiesHeader.MessageClass
        ):
            receipt.is_on_disk = True
            return
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("sender-ack-reach-queue-class-taken-as-final-ack", breaks="MQQB-3.1.5.1.1-12", blind=True)
class SenderAckReachQueueClassTakenAsFinalAck(MessageReceiving):
    """The sender treats a message of MessageClass ACK_REACH_QUEUE as a FinalAck if the message has all other properties
    of a FinalAck.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        properties = packet.MessagePropertiesHeader
        if (
            properties.MessageClass == MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
            and properties.Label == ORDER_ACK_LABEL
            and packet.BaseHeader.Flags == 0
            and is_for_order_queue(packet)
        ):
            receipt.is_on_disk = True
            self.qm.final_acks.receive(session, packet, now)
        else:
            super().put_received_message_into_queue(session, packet, receipt, now)
