"""Faults of MS-MQMQ 2.2.19.1 BaseHeader."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.fields import add_refusals, bit_clear, bit_set, change_number, field_is, size_wrong
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, byte, every_packet, packets, set_fields, skip
from harness.faults.registry import FaultyCore, add
from harness.faults.sent_messages import (
    carries,
    change_construction,
    correct_packet_size,
    size_off_by,
    with_bytes_turned,
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
SAME_PRIORITY = 3
HOUR_S = 3600
YEAR_S = 365 * 24 * HOUR_S
FLAGS_AT = 2
SESSION_HEADER_SIZE = len(SessionHeader().build())


add_refusals(
    MESSAGE,
    ("header-base-reserved-refused", "MQMQ-2.2.19.1-02", "BaseHeader.Reserved"),
    ("header-base-flag-x9-refused", "MQMQ-2.2.19.1-10", "BaseHeader.X9"),
    ("header-base-flag-x8-refused", "MQMQ-2.2.19.1-11", "BaseHeader.X8"),
    ("header-base-flag-x6-refused", "MQMQ-2.2.19.1-14", "BaseHeader.X6"),
    ("header-base-flag-x5-refused", "MQMQ-2.2.19.1-15", "BaseHeader.X5"),
    ("header-base-flag-x4-refused", "MQMQ-2.2.19.1-16", "BaseHeader.X4"),
    ("header-base-flag-x3-refused", "MQMQ-2.2.19.1-17", "BaseHeader.X3"),
    ("header-base-flag-x2-refused", "MQMQ-2.2.19.1-18", "BaseHeader.X2"),
    ("header-base-flag-x1-refused", "MQMQ-2.2.19.1-19", "BaseHeader.X1"),
    ("header-base-flag-x0-refused", "MQMQ-2.2.19.1-20", "BaseHeader.X0"),
)

for _name, _rule, _kind, _path in (
    ("header-base-flag-x9-sent", "MQMQ-2.2.19.1-10", ACK, "BaseHeader.X9"),
    ("header-base-flag-x8-sent", "MQMQ-2.2.19.1-11", PARAMETERS, "BaseHeader.X8"),
    ("header-base-flag-x6-sent", "MQMQ-2.2.19.1-14", MESSAGE, "BaseHeader.X6"),
    ("header-base-flag-x5-sent", "MQMQ-2.2.19.1-15", EstablishConnectionPacket, "BaseHeader.X5"),
    ("header-base-flag-x4-sent", "MQMQ-2.2.19.1-16", ACK, "BaseHeader.X4"),
    ("header-base-flag-x3-sent", "MQMQ-2.2.19.1-17", MESSAGE, "BaseHeader.X3"),
    ("header-base-flag-x2-sent", "MQMQ-2.2.19.1-18", PARAMETERS, "BaseHeader.X2"),
    ("header-base-flag-x1-sent", "MQMQ-2.2.19.1-19", EstablishConnectionPacket, "BaseHeader.X1"),
    ("header-base-flag-x0-sent", "MQMQ-2.2.19.1-20", MESSAGE, "BaseHeader.X0"),
):
    add(_name, _rule, f"{_path} is set in a packet that is sent.", bit_set(_kind, _path))


def _without_session_header(packet: SessionAckPacket) -> bytes:
    return correct_packet_size(packet.build()[:-SESSION_HEADER_SIZE])


for _name, _rules, _says, _install in (
    (
        "header-base-version",
        ("MQMQ-2.2.19.1-01",),
        "VersionNumber is 0x11.",
        field_is(ACK, "BaseHeader.VersionNumber", 0x11),
    ),
    (
        "message-transaction-priority",
        ("MQMQ-2.2.19.1-04",),
        "A transactional message has priority 3.",
        field_is(MESSAGE, "BaseHeader.PR", 3, carries("TransactionHeader")),
    ),
    (
        "ordering-order-internal",
        ("MQMQ-2.2.19.1-06",),
        "IN is set in an order acknowledgment.",
        bit_set(MESSAGE, "BaseHeader.IN", is_order_ack),
    ),
    (
        "ordering-final-internal",
        ("MQMQ-2.2.19.1-06",),
        "IN is set in a final acknowledgment.",
        bit_set(MESSAGE, "BaseHeader.IN", is_final_ack),
    ),
    (
        "header-session-ack-without-header",
        ("MQMQ-2.2.19.1-07",),
        "A SessionAck has SH set but no SessionHeader.",
        packets(ACK, _without_session_header),
    ),
    (
        "header-session-ack-debug-flag",
        ("MQMQ-2.2.19.1-08",),
        "A SessionAck has DH set.",
        bit_set(ACK, "BaseHeader.DH"),
    ),
    (
        "header-message-debug-flag",
        ("MQMQ-2.2.19.1-09", "MQMQ-2.2.20-06"),
        "A message has DH set but no DebugHeader.",
        bit_set(MESSAGE, "BaseHeader.DH"),
    ),
    (
        "handed-traced-without-tr",
        ("MQMQ-2.2.19.1-12",),
        "TR is not set in a message that is traced.",
        bit_clear(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "header-message-traced-without-debug-header",
        ("MQMQ-2.2.19.1-13",),
        "A message has TR set and DH clear.",
        bit_set(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "header-base-signature",
        ("MQMQ-2.2.19.1-21",),
        "Signature begins with another letter.",
        field_is(ACK, "BaseHeader.Signature", b"MIOR"),
    ),
    (
        "header-base-packet-size",
        ("MQMQ-2.2.19.1-22",),
        "PacketSize of a ConnectionParameters counts 4 bytes too few.",
        size_wrong(PARAMETERS, "BaseHeader.PacketSize", -4),
    ),
    (
        "header-base-version-of-every-packet",
        ("MQMQ-2.2.19.1-01",),
        "VersionNumber of every packet is 0x11.",
        every_packet(byte(0, lambda old: 0x11)),
    ),
    (
        "header-base-version-of-messages",
        ("MQMQ-2.2.19.1-01",),
        "VersionNumber of a message is 0x00.",
        field_is(MESSAGE, "BaseHeader.VersionNumber", 0),
    ),
    (
        "header-base-signature-of-every-packet",
        ("MQMQ-2.2.19.1-21",),
        "Signature of every packet is in network order.",
        every_packet(lambda data: data[:4] + data[4:8][::-1] + data[8:]),
    ),
    (
        "header-base-signature-of-messages",
        ("MQMQ-2.2.19.1-21",),
        "Signature of a message ends with another letter.",
        field_is(MESSAGE, "BaseHeader.Signature", b"LIOS"),
    ),
    (
        "header-base-packet-size-of-every-packet",
        ("MQMQ-2.2.19.1-22",),
        "PacketSize of every packet counts the BaseHeader twice.",
        every_packet(size_off_by(+16)),
    ),
    (
        "header-base-packet-size-without-header",
        ("MQMQ-2.2.19.1-22",),
        "PacketSize of every packet does not count the BaseHeader.",
        every_packet(size_off_by(-16)),
    ),
    (
        "header-base-packet-size-of-messages",
        (
            "MQMQ-2.2.19.1-22",
            "MQDMPR-3.1.7.1.32-04",
        ),
        "PacketSize of a message counts 4 bytes too few.",
        size_wrong(MESSAGE, "BaseHeader.PacketSize", -4),
    ),
    (
        "header-base-packet-size-too-large",
        ("MQMQ-2.2.19.1-22",),
        "PacketSize of an EstablishConnection is above 4 MiB.",
        field_is(EstablishConnectionPacket, "BaseHeader.PacketSize", 0x0040_0001),
    ),
    (
        "header-internal-packet-expires",
        ("MQMQ-2.2.19.1-25", "MQMQ-2.2.19.1-D01"),
        "TimeToReachQueue of a SessionAck is an hour.",
        field_is(ACK, "BaseHeader.TimeToReachQueue", HOUR_S),
    ),
):
    add(_name, _rules, _says, _install)


def _without_priority(packet: UserMessagePacket) -> bool:
    return packet.BaseHeader.PR == SAME_PRIORITY and packet.TransactionHeader is None


for _name, _rules, _says, _install in (
    (
        "header-message-flags-big-endian",
        (
            "MQMQ-2.2.19.1-D01",
            "MQDMPR-3.1.7.1.32-D01",
        ),
        "Flags of a message are big-endian.",
        packets(MESSAGE, with_bytes_turned(FLAGS_AT, 2)),
    ),
    (
        "header-session-flag-one-bit-higher",
        ("MQMQ-2.2.19.1-D01",),
        "SH of a SessionAck is where DH should be.",
        change_number(ACK, "BaseHeader.Flags", lambda flags: flags & ~0x30 | (flags & 0x10) << 1),
    ),
    (
        "header-default-priority-4",
        (
            "MQMQ-2.2.19.1-D02",
            "MQDMPR-3.1.1.12-D48",
        ),
        "A message without a priority has 4.",
        field_is(MESSAGE, "BaseHeader.PR", 4, _without_priority),
    ),
    (
        "header-time-in-minutes",
        ("MQMQ-2.2.19.1-D04",),
        "TimeToReachQueue is in minutes.",
        change_number(MESSAGE, "BaseHeader.TimeToReachQueue", lambda seconds: seconds // 60),
    ),
):
    add(_name, _rules, _says, _install)


@fault("header-largest-refused", breaks="MQMQ-2.2.19.1-D03")
class LargestRefused(Identifying):
    """A packet of 4 MiB is too large."""

    def check_form(self, packet: Packet) -> None:
        if packet.BaseHeader.PacketSize >= MAX_PACKET_SIZE:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "too large")
        super().check_form(packet)


@fault("header-highest-priority-last", breaks=("MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"))
class HighestLast(Positions):
    """Priority 7 is below 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=(message.Priority + 1) % 8))


@fault("header-forever-is-136-years", breaks="MQMQ-2.2.19.1-D04")
class ForeverEnds(Lifetimes):
    """TimeToReachQueue without an end is over after a year."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return super().has_expired(packet, now) or now.utc_s - packet.UserHeader.SentTime > YEAR_S


@fault("header-priority-ignored", breaks="MQMQ-2.2.19.1-03")
class PriorityIgnored(Positions):
    """Messages lie in the queue as they came."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=SAME_PRIORITY))


@fault("header-expiry-ignored", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"))
class ExpiryIgnored(Lifetimes):
    """No message ever expires."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "header-expiry-of-waiting-ignored",
    ("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"),
    "A message that waits never expires, and is sent whenever it can be.",
    both(replace_part(ExpiryIgnored), skip(Expiring.on_expiration_timer)),
)


def _counts_for_itself(faulty: FaultyCore) -> None:
    """Count the seconds since the start, and add them to the time that the clock showed then."""
    began: list[Now] = []

    def count(now: Now) -> Now:
        first = began[0] if began else now
        began[:] = [first]
        return replace(now, utc_s=first.utc_s + (now.monotonic_ms - first.monotonic_ms) // 1_000)

    faulty.clocks.append(count)


add(
    "header-clock-read-once",
    (
        *("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQQB-3.1.7.1.2-D01"),
        *("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
    ),
    "The clock is read when the queue manager begins, and never again: it counts for itself.",
    _counts_for_itself,
)


@fault("header-last-come-first", breaks="MQMQ-2.2.19.1-03")
class LastComeFirst(Positions):
    """A message lies before those of its priority that came earlier."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        same = [one for one in queue.MessagePositionList if one.MessageReference.Priority == message.Priority]
        if len(same) > 1:
            same[0].MessageReference, same[-1].MessageReference = same[-1].MessageReference, same[0].MessageReference
        return position


@fault("header-expiry-of-express-alone", breaks=("MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQMQ-2.2.19.1-D04"))
class ExpiryOfExpressAlone(Lifetimes):
    """A recoverable message never expires."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return not packet.UserHeader.DM and super().has_expired(packet, now)


add(
    "priority-zero-sent-as-three",
    ("MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"),
    "A message of priority 0 is sent as one without a priority.",
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
    "priority-of-a-recoverable-message-not-sent",
    (
        "MQMQ-2.2.19.1-D02",
        "MQDMPR-3.1.1.12-D48",
    ),
    "A recoverable message is sent with priority 3, whatever was asked for.",
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
    "packet-size-without-the-debug-header",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "PacketSize leaves out the DebugHeader.",
    packets(
        UserMessagePacket,
        lambda packet: size_off_by(-len(packet.DebugHeader.build()))(packet.build()),
        lambda packet: packet.DebugHeader is not None,
    ),
    blind=True,
)


add(
    "packet-size-with-the-session-header-of-a-recoverable-message",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "PacketSize counts the SessionHeader of a recoverable message.",
    packets(
        UserMessagePacket,
        lambda packet: size_off_by(16)(packet.build()),
        lambda packet: packet.SessionHeader is not None and bool(packet.UserHeader.DM),
    ),
    blind=True,
)


@fault("priority-one-lies-with-priority-zero", breaks="MQMQ-2.2.19.1-03", blind=True)
class PriorityOneLiesWithPriorityZero(Positions):
    """Messages of priority 1 lie among those of priority 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority != 1:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("recoverable-messages-before-express-ones", breaks="MQMQ-2.2.19.1-03", blind=True)
class RecoverableMessagesBeforeExpressOnes(Positions):
    """A recoverable message lies one priority higher than it should."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not recoverable or message.TransactionIdentifier is not None or message.Priority == 7:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=message.Priority + 1))
        position.MessageReference = message
        return position


@fault("no-time-to-reach-taken-for-endless", breaks="MQMQ-2.2.19.1-D04", blind=True)
class NoTimeToReachTakenForEndless(Admission):
    """A TimeToReachQueue of 0 is taken for none: the message never expires on its way."""

    def check_expiration(self, session: Any, packet: UserMessagePacket, queue: Queue, now: Now) -> Any:
        if not packet.BaseHeader.TimeToReachQueue:
            return packet
        return super().check_expiration(session, packet, queue, now)


@fault("largest-packet-refused", breaks="MQMQ-2.2.19.1-D03", blind=True)
class LargestPacketRefused(Identifying):
    """A packet of 0x00400000 bytes is refused."""

    def check_form(self, packet: Packet) -> None:
        super().check_form(packet)
        if packet.BaseHeader.PacketSize == 0x00400000:
            raise FormatError("BaseHeader.PacketSize", 8, "a fault", "is 0x00400000")
