"""Faults of MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import add_refusals, bit_clear, bit_set, change_number, field_is, size_wrong
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, every_packet, packets, replace_byte, set_fields, skip
from harness.faults.registry import FaultyCore, add
from harness.faults.sent_messages import (
    add_to_packet_size,
    change_construction,
    correct_packet_size,
    has_header,
    reverse_number_bytes,
)
from reference_qm.codec import (
    MAX_PACKET_SIZE,
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    Packet,
    SessionAckPacket,
    SessionHeader,
    UserMessagePacket,
)
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.transfer.admission import Admission
from reference_qm.core.transfer.expiring import Expiring
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.core.transfer.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

PARAMETERS, ACK, MESSAGE = ConnectionParametersPacket, SessionAckPacket, UserMessagePacket
FIXED_PRIORITY = 3
SECONDS_PER_HOUR = 3600
YEAR_S = 365 * 24 * SECONDS_PER_HOUR
FLAGS_OFFSET = 2
SESSION_HEADER_SIZE = len(SessionHeader().build())


add_refusals(
    MESSAGE,
    ("receiver-base-header-reserved-refused", "MQMQ-2.2.19.1-02", "BaseHeader.Reserved"),
    ("receiver-base-header-x9-refused", "MQMQ-2.2.19.1-10", "BaseHeader.X9"),
    ("receiver-base-header-x8-refused", "MQMQ-2.2.19.1-11", "BaseHeader.X8"),
    ("receiver-base-header-x6-refused", "MQMQ-2.2.19.1-14", "BaseHeader.X6"),
    ("receiver-base-header-x5-refused", "MQMQ-2.2.19.1-15", "BaseHeader.X5"),
    ("receiver-base-header-x4-refused", "MQMQ-2.2.19.1-16", "BaseHeader.X4"),
    ("receiver-base-header-x3-refused", "MQMQ-2.2.19.1-17", "BaseHeader.X3"),
    ("receiver-base-header-x2-refused", "MQMQ-2.2.19.1-18", "BaseHeader.X2"),
    ("receiver-base-header-x1-refused", "MQMQ-2.2.19.1-19", "BaseHeader.X1"),
    ("receiver-base-header-x0-refused", "MQMQ-2.2.19.1-20", "BaseHeader.X0"),
)

for _name, _rule, _kind, _path in (
    ("sender-session-ack-base-header-x9-set", "MQMQ-2.2.19.1-10", ACK, "BaseHeader.X9"),
    ("sender-connection-parameters-base-header-x8-set", "MQMQ-2.2.19.1-11", PARAMETERS, "BaseHeader.X8"),
    ("sender-user-message-base-header-x6-set", "MQMQ-2.2.19.1-14", MESSAGE, "BaseHeader.X6"),
    ("sender-establish-connection-base-header-x5-set", "MQMQ-2.2.19.1-15", EstablishConnectionPacket, "BaseHeader.X5"),
    ("sender-session-ack-base-header-x4-set", "MQMQ-2.2.19.1-16", ACK, "BaseHeader.X4"),
    ("sender-user-message-base-header-x3-set", "MQMQ-2.2.19.1-17", MESSAGE, "BaseHeader.X3"),
    ("sender-connection-parameters-base-header-x2-set", "MQMQ-2.2.19.1-18", PARAMETERS, "BaseHeader.X2"),
    ("sender-establish-connection-base-header-x1-set", "MQMQ-2.2.19.1-19", EstablishConnectionPacket, "BaseHeader.X1"),
    ("sender-user-message-base-header-x0-set", "MQMQ-2.2.19.1-20", MESSAGE, "BaseHeader.X0"),
):
    add(
        _name,
        _rule,
        f"The sender sets the reserved field {_path} of a packet.",
        bit_set(_kind, _path),
    )


def _remove_session_header(packet: SessionAckPacket) -> bytes:
    return correct_packet_size(packet.build()[:-SESSION_HEADER_SIZE])


for _name, _rules, _says, _install in (
    (
        "receiver-session-ack-version-number-0x11",
        ("MQMQ-2.2.19.1-01",),
        "The receiver's SessionAck carries VersionNumber 0x11.",
        field_is(ACK, "BaseHeader.VersionNumber", 0x11),
    ),
    (
        "sender-transactional-message-priority-3",
        ("MQMQ-2.2.19.1-04",),
        "The sender's transactional UserMessage carries priority 3.",
        field_is(MESSAGE, "BaseHeader.PR", 3, has_header("TransactionHeader")),
    ),
    (
        "receiver-order-ack-in-bit-set",
        ("MQMQ-2.2.19.1-06",),
        "The receiver sets IN in its OrderAck.",
        bit_set(MESSAGE, "BaseHeader.IN", is_order_ack),
    ),
    (
        "receiver-final-ack-in-bit-set",
        ("MQMQ-2.2.19.1-06",),
        "The receiver sets IN in its FinalAck.",
        bit_set(MESSAGE, "BaseHeader.IN", is_final_ack),
    ),
    (
        "receiver-session-ack-without-session-header",
        ("MQMQ-2.2.19.1-07",),
        "The receiver's SessionAck has SH set, but contains no SessionHeader.",
        packets(ACK, _remove_session_header),
    ),
    (
        "receiver-session-ack-dh-set",
        ("MQMQ-2.2.19.1-08",),
        "The receiver sets DH in its SessionAck.",
        bit_set(ACK, "BaseHeader.DH"),
    ),
    (
        "sender-user-message-dh-without-debug-header",
        ("MQMQ-2.2.19.1-09", "MQMQ-2.2.20-06"),
        "The sender's UserMessage has DH set, but contains no DebugHeader.",
        bit_set(MESSAGE, "BaseHeader.DH"),
    ),
    (
        "sender-traced-message-tr-clear",
        ("MQMQ-2.2.19.1-12",),
        "The sender leaves TR clear in a UserMessage that is to be traced.",
        bit_clear(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "sender-user-message-tr-without-dh",
        ("MQMQ-2.2.19.1-13",),
        "The sender's UserMessage has TR set, but DH clear.",
        bit_set(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "receiver-session-ack-signature-first-byte-wrong",
        ("MQMQ-2.2.19.1-21",),
        "The receiver's SessionAck carries a Signature whose first letter is wrong.",
        field_is(ACK, "BaseHeader.Signature", b"MIOR"),
    ),
    (
        "connection-parameters-packet-size-4-bytes-short",
        ("MQMQ-2.2.19.1-22",),
        "The ConnectionParameters packet carries a PacketSize that is 4 bytes too small.",
        size_wrong(PARAMETERS, "BaseHeader.PacketSize", -4),
    ),
    (
        "every-packet-version-number-0x11",
        ("MQMQ-2.2.19.1-01",),
        "Every packet of the queue manager carries VersionNumber 0x11.",
        every_packet(replace_byte(0, lambda old: 0x11)),
    ),
    (
        "sender-user-message-version-number-zero",
        ("MQMQ-2.2.19.1-01",),
        "The sender's UserMessage carries VersionNumber 0x00.",
        field_is(MESSAGE, "BaseHeader.VersionNumber", 0),
    ),
    (
        "every-packet-signature-big-endian",
        ("MQMQ-2.2.19.1-21",),
        "Every packet of the queue manager carries a big-endian Signature.",
        every_packet(lambda data: data[:4] + data[4:8][::-1] + data[8:]),
    ),
    (
        "sender-user-message-signature-last-byte-wrong",
        ("MQMQ-2.2.19.1-21",),
        "The sender's UserMessage carries a Signature whose last letter is wrong.",
        field_is(MESSAGE, "BaseHeader.Signature", b"LIOS"),
    ),
    (
        "every-packet-packet-size-16-bytes-large",
        ("MQMQ-2.2.19.1-22",),
        "Every packet of the queue manager carries a PacketSize that counts the BaseHeader twice.",
        every_packet(add_to_packet_size(+16)),
    ),
    (
        "every-packet-packet-size-16-bytes-short",
        ("MQMQ-2.2.19.1-22",),
        "Every packet of the queue manager carries a PacketSize without the BaseHeader.",
        every_packet(add_to_packet_size(-16)),
    ),
    (
        "sender-user-message-packet-size-4-bytes-short",
        (
            "MQMQ-2.2.19.1-22",
            "MQDMPR-3.1.7.1.32-04",
        ),
        "The sender's UserMessage carries a PacketSize that is 4 bytes too small.",
        size_wrong(MESSAGE, "BaseHeader.PacketSize", -4),
    ),
    (
        "establish-connection-packet-size-above-4-mib",
        ("MQMQ-2.2.19.1-22",),
        "The EstablishConnection packet carries a PacketSize above 4 MiB.",
        field_is(EstablishConnectionPacket, "BaseHeader.PacketSize", 0x0040_0001),
    ),
    (
        "receiver-session-ack-time-to-reach-queue-1-hour",
        ("MQMQ-2.2.19.1-25", "MQMQ-2.2.19.1-D01"),
        "The receiver's SessionAck carries a TimeToReachQueue of one hour.",
        field_is(ACK, "BaseHeader.TimeToReachQueue", SECONDS_PER_HOUR),
    ),
):
    add(_name, _rules, _says, _install)


def _has_same_priority(packet: UserMessagePacket) -> bool:
    return packet.BaseHeader.PR == FIXED_PRIORITY and packet.TransactionHeader is None


for _name, _rules, _says, _install in (
    (
        "sender-user-message-base-header-flags-big-endian",
        (
            "MQMQ-2.2.19.1-D01",
            "MQDMPR-3.1.7.1.32-D01",
        ),
        "The sender's UserMessage carries big-endian BaseHeader.Flags.",
        packets(MESSAGE, reverse_number_bytes(FLAGS_OFFSET, 2)),
    ),
    (
        "receiver-session-ack-sh-one-bit-too-high",
        ("MQMQ-2.2.19.1-D01",),
        "The receiver writes the flag SH of its SessionAck one bit too high.",
        change_number(ACK, "BaseHeader.Flags", lambda flags: flags & ~0x30 | (flags & 0x10) << 1),
    ),
    (
        "sender-user-message-default-priority-4",
        (
            "MQMQ-2.2.19.1-D02",
            "MQDMPR-3.1.1.12-D48",
        ),
        "The sender's UserMessage without a requested priority carries priority 4.",
        field_is(MESSAGE, "BaseHeader.PR", 4, _has_same_priority),
    ),
    (
        "sender-user-message-time-to-reach-queue-in-minutes",
        ("MQMQ-2.2.19.1-D04",),
        "The sender writes TimeToReachQueue of a UserMessage in minutes.",
        change_number(MESSAGE, "BaseHeader.TimeToReachQueue", lambda seconds: seconds // 60),
    ),
):
    add(_name, _rules, _says, _install)


@fault("receiver-packet-of-4-mib-refused", breaks="MQMQ-2.2.19.1-D03")
class ReceiverPacketOf4MibRefused(Identifying):
    """The receiver refuses a packet of 4 MiB."""

    def check_form(self, packet: Packet) -> None:
        if packet.BaseHeader.PacketSize >= MAX_PACKET_SIZE:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "too large")
        super().check_form(packet)


@fault("receiver-sorts-priority-7-below-priority-0", breaks=("MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"))
class ReceiverSortsPriority7BelowPriority0(Positions):
    """The receiver puts messages of priority 7 after the messages of priority 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=(message.Priority + 1) % 8))


@fault("receiver-infinite-time-to-reach-queue-1-year", breaks="MQMQ-2.2.19.1-D04")
class ReceiverInfiniteTimeToReachQueue1Year(Lifetimes):
    """The receiver treats a message with TimeToReachQueue 0xFFFFFFFF as expired after a year."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return super().has_expired(packet, now) or now.utc_s - packet.UserHeader.SentTime > YEAR_S


@fault("receiver-priority-ignored", breaks="MQMQ-2.2.19.1-03")
class ReceiverPriorityIgnored(Positions):
    """The receiver puts messages into the queue in the order of arrival."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=FIXED_PRIORITY))


@fault("receiver-expired-user-message-accepted", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"))
class ReceiverExpiredUserMessageAccepted(Lifetimes):
    """The receiver accepts expired messages."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "sender-message-past-time-to-reach-queue-sent",
    ("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"),
    "The sender sends a waiting message that has expired.",
    both(replace_part(ReceiverExpiredUserMessageAccepted), skip(Expiring.on_expiration_timer)),
)


def _count_time_since_start(faulty: FaultyCore) -> None:
    """Let the queue manager compute the time from its start time and the seconds since the start."""
    began: list[Now] = []

    def count_from_first_time(now: Now) -> Now:
        first = began[0] if began else now
        began[:] = [first]
        return replace(now, utc_s=first.utc_s + (now.monotonic_ms - first.monotonic_ms) // 1_000)

    faulty.clocks.append(count_from_first_time)


add(
    "queue-manager-clock-read-once",
    (
        *("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQQB-3.1.7.1.2-D01"),
        *("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
    ),
    "The queue manager reads the clock only once, at its start, and afterwards counts the seconds itself.",
    _count_time_since_start,
)


@fault("receiver-puts-later-message-before-earlier-one", breaks="MQMQ-2.2.19.1-03")
class ReceiverPutsLaterMessageBeforeEarlierOne(Positions):
    """The receiver puts a message before the earlier messages of its priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        same = [one for one in queue.MessagePositionList if one.MessageReference.Priority == message.Priority]
        if len(same) > 1:
            same[0].MessageReference, same[-1].MessageReference = same[-1].MessageReference, same[0].MessageReference
        return position


@fault(
    "receiver-expired-recoverable-user-message-accepted",
    breaks=("MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQMQ-2.2.19.1-D04"),
)
class ReceiverExpiredRecoverableUserMessageAccepted(Lifetimes):
    """The receiver accepts an expired recoverable message."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return not packet.UserHeader.DM and super().has_expired(packet, now)


add(
    "sender-user-message-priority-0-sent-as-3",
    ("MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"),
    "The sender's UserMessage of priority 0 carries priority 3.",
    change_construction(
        lambda packet, message: (
            packet
            if packet.BaseHeader.Flags & 7 or packet.UserHeader.TH
            else set_fields(packet, {"BaseHeader.Flags": 3})
        )
    ),
    blind=True,
)


add(
    "sender-recoverable-message-priority-always-3",
    (
        "MQMQ-2.2.19.1-D02",
        "MQDMPR-3.1.1.12-D48",
    ),
    "The sender's recoverable UserMessage carries priority 3 for every requested priority.",
    change_construction(
        lambda packet, message: (
            set_fields(packet, {"BaseHeader.Flags": lambda flags: flags & ~7 | 3})
            if packet.UserHeader.DM and not packet.UserHeader.TH
            else packet
        )
    ),
    blind=True,
)


add(
    "sender-user-message-packet-size-without-debug-header",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "The sender's UserMessage carries a PacketSize that excludes the DebugHeader.",
    packets(
        UserMessagePacket,
        lambda packet: add_to_packet_size(-len(packet.DebugHeader.build()))(packet.build()),
        lambda packet: packet.DebugHeader is not None,
    ),
    blind=True,
)


add(
    "sender-recoverable-message-packet-size-16-bytes-large",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "The sender's recoverable UserMessage carries a PacketSize that includes the SessionHeader.",
    packets(
        UserMessagePacket,
        lambda packet: add_to_packet_size(16)(packet.build()),
        lambda packet: packet.SessionHeader is not None and bool(packet.UserHeader.DM),
    ),
    blind=True,
)


@fault("receiver-priority-1-treated-as-0", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverPriority1TreatedAs0(Positions):
    """The receiver treats messages of priority 1 as messages of priority 0 in a queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority != 1:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("receiver-recoverable-message-priority-one-too-high", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverRecoverableMessagePriorityOneTooHigh(Positions):
    """The receiver places a recoverable message in its queue as if its priority were one higher."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not recoverable or message.TransactionIdentifier is not None or message.Priority == 7:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=message.Priority + 1))
        position.MessageReference = message
        return position


@fault("receiver-time-to-reach-queue-zero-never-expires", breaks="MQMQ-2.2.19.1-D04", blind=True)
class ReceiverTimeToReachQueueZeroNeverExpires(Admission):
    """The receiver treats a message with TimeToReachQueue 0 as a message that never expires."""

    def check_expiration(self, session: Any, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if not packet.BaseHeader.TimeToReachQueue:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("receiver-packet-of-0x400000-bytes-refused", breaks="MQMQ-2.2.19.1-D03", blind=True)
class ReceiverPacketOf0x400000BytesRefused(Identifying):
    """The receiver refuses a packet with PacketSize 0x00400000."""

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        if packet.BaseHeader.PacketSize == 0x00400000:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "is 0x00400000")
