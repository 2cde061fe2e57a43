"""Faults of MS-MQMQ 2.2.19.2 UserHeader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from harness.faults.fields import add_bits_set, add_refusals, bit_clear, bit_set, change_number, field_is, off_by
from harness.faults.parts import fault
from harness.faults.primitives import at_restart, packets, set_fields, wrong_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion, correct_packet_size
from reference_qm.codec import PrivateQueueFormatNameId, UserHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.model.adm import MessagePosition

MESSAGE = UserMessagePacket
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""A queue manager that is nowhere."""
ON_DESTINATION, PUBLIC, DIRECT = 3, 5, 7
"""Values of DQ and AQ: a private queue of the destination, a public queue, a direct name."""
HOUR_S = 3600
NAMES_AT = 64


def destined(kind: int) -> Callable[[UserMessagePacket], bool]:
    """Return whether the destination of a message has a DQ."""
    return lambda packet: kind == packet.UserHeader.DQ


def _is_transactional(packet: UserMessagePacket) -> bool:
    return bool(packet.UserHeader.TH)


def _names_admin_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.AdminQueue is not None


def _names_no_admin_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.AdminQueue is None


def _names_response_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.ResponseQueue is not None


def _without_response_queue(packet: UserMessagePacket) -> bytes:
    """Leave the response queue out and RQ as it is."""
    user = packet.UserHeader
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(user.build())
    bare = replace(user, ResponseQueue=None, Flags=user.Flags & ~UserHeader.flags(RQ=7))
    return correct_packet_size(data[: end - len(user.build()) + len(bare.build())] + data[end:])


# -- what is sent --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "message-source-changed",
        ("MQMQ-2.2.19.2-01", "MQDMPR-3.1.1.12-D51", "MQMQ-2.2.18.1.3-01"),
        "SourceQueueManager is another queue manager.",
        field_is(MESSAGE, "UserHeader.SourceQueueManager", OTHER),
    ),
    (
        "message-address-of-direct-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-04"),
        "QueueManagerAddress is not zero for a direct name.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, destined(DIRECT)),
    ),
    (
        "message-address-of-private-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "QueueManagerAddress is another queue manager than the private queue's.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, destined(ON_DESTINATION)),
    ),
    (
        "message-sent-earlier",
        ("MQMQ-2.2.19.2-06",),
        "SentTime is an hour ago.",
        off_by(MESSAGE, "UserHeader.SentTime", -HOUR_S),
    ),
    (
        "message-identifiers-equal",
        ("MQMQ-2.2.19.2-07", "MQDMPR-3.1.1.12-D02", "MQMQ-2.2.18.1.3-02"),
        "Every message has MessageID 7.",
        field_is(MESSAGE, "UserHeader.MessageID", 7),
    ),
    ("message-too-many-hops", ("MQMQ-2.2.19.2-08",), "RC is 0x1E.", field_is(MESSAGE, "UserHeader.RC", 0x1E)),
    ("message-delivery-mode", ("MQMQ-2.2.19.2-09",), "DM is 2.", field_is(MESSAGE, "UserHeader.DM", 2)),
    ("message-destination-type", ("MQMQ-2.2.19.2-15",), "DQ is 1.", field_is(MESSAGE, "UserHeader.DQ", 1)),
    ("message-administration-type", ("MQMQ-2.2.19.2-16",), "AQ is 1.", field_is(MESSAGE, "UserHeader.AQ", 1)),
    (
        "message-announces-sh",
        ("MQMQ-2.2.19.2-18", "MQMQ-2.2.20-04"),
        "A message has SH set, but not what it announces.",
        bit_set(MESSAGE, "UserHeader.SH"),
    ),
    (
        "message-announces-th",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "A message has TH set, but not what it announces.",
        bit_set(MESSAGE, "UserHeader.TH"),
    ),
    (
        "message-transactional-unannounced",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "TH is clear in a message with a TransactionHeader.",
        bit_clear(MESSAGE, "UserHeader.TH"),
    ),
    (
        "message-transactional-express",
        ("MQMQ-2.2.19.2-20",),
        "DM is 0 in a transactional message.",
        bit_clear(MESSAGE, "UserHeader.DM", _is_transactional),
    ),
    (
        "message-without-properties-flag",
        ("MQMQ-2.2.19.2-21", "MQMQ-2.2.20-01", "MQMQ-2.2.20-05"),
        "MP is clear.",
        bit_clear(MESSAGE, "UserHeader.MP"),
    ),
    (
        "message-announces-cq",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "A message has CQ set, but not what it announces.",
        bit_set(MESSAGE, "UserHeader.CQ"),
    ),
    (
        "message-announces-mq",
        ("MQMQ-2.2.19.2-23", "MQMQ-2.2.20-08"),
        "A message has MQ set, but not what it announces.",
        bit_set(MESSAGE, "UserHeader.MQ"),
    ),
    ("message-over-http", ("MQMQ-2.2.19.2-25",), "AH is set.", bit_set(MESSAGE, "UserHeader.AH")),
    (
        "message-announces-hh",
        ("MQMQ-2.2.19.2-27", "MQMQ-2.2.20-07"),
        "A message has HH set, but not what it announces.",
        bit_set(MESSAGE, "UserHeader.HH"),
    ),
    (
        "message-acknowledgments-nowhere",
        ("MQMQ-2.2.19.2-31",),
        "Acknowledgments are asked for without an administration queue.",
        wrong_fields(
            MESSAGE,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda old: old & ~UserHeader.flags(AQ=7)},
            _names_admin_queue,
        ),
    ),
    (
        "message-administration-missing",
        ("MQMQ-2.2.19.2-32",),
        "AQ announces a queue that is not there.",
        field_is(MESSAGE, "UserHeader.AQ", PUBLIC, _names_no_admin_queue),
    ),
    (
        "message-administration-unannounced",
        ("MQMQ-2.2.19.2-33",),
        "AQ is 0 before an AdminQueue.",
        bit_clear(MESSAGE, "UserHeader.AQ", _names_admin_queue),
    ),
    (
        "name-response-missing",
        ("MQMQ-2.2.19.2-35",),
        "RQ announces a response queue that is not there.",
        packets(MESSAGE, _without_response_queue, _names_response_queue),
    ),
    (
        "message-response-unannounced",
        ("MQMQ-2.2.19.2-36",),
        "RQ is 0 before a ResponseQueue.",
        bit_clear(MESSAGE, "UserHeader.RQ", _names_response_queue),
    ),
):
    add(_name, _rules, _says, _install)


def _swapped(first: int, second: int, size: int) -> Callable[[UserMessagePacket], bytes]:
    """Let two fields change places, by their offsets."""

    def swapped(packet: UserMessagePacket) -> bytes:
        data = bytearray(packet.build())
        one, other = slice(first, first + size), slice(second, second + size)
        data[one], data[other] = data[other], data[one]
        return bytes(data)

    return swapped


def _flags_moved(packet: UserMessagePacket) -> int:
    """Let JN and JP change places with the two bits behind DQ's."""
    user = packet.UserHeader
    return user.Flags & ~UserHeader.flags(JN=1, JP=1) | UserHeader.flags(JN=user.JP, JP=user.JN)


for _name, _rule, _says, _install in (
    (
        "message-guids-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "QueueManagerAddress stands before SourceQueueManager.",
        packets(MESSAGE, _swapped(16, 32, 16)),
    ),
    (
        "message-times-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "SentTime stands before TimeToBeReceived.",
        packets(MESSAGE, _swapped(48, 52, 4)),
    ),
    (
        "message-journals-swapped",
        "MQMQ-2.2.19.2-D02",
        "JN and JP change places.",
        packets(
            MESSAGE,
            lambda packet: set_fields(packet, {"UserHeader.Flags": _flags_moved(packet)}).build(),
        ),
    ),
    (
        "message-delivery-one-bit-higher",
        "MQMQ-2.2.19.2-D02",
        "DM is one bit higher.",
        change_number(MESSAGE, "UserHeader.DM", lambda delivery: delivery << 1),
    ),
    (
        "message-life-in-milliseconds",
        "MQMQ-2.2.19.2-D03",
        "TimeToBeReceived is in milliseconds.",
        change_number(MESSAGE, "UserHeader.TimeToBeReceived", lambda seconds: seconds * 1_000),
    ),
    (
        "message-sent-in-local-time",
        ("MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "SentTime is that of another time zone.",
        off_by(MESSAGE, "UserHeader.SentTime", 8 * HOUR_S),
    ),
):
    add(_name, _rule, _says, _install)

# -- what is received ----------------------------------------------------------------------------------------------

add_refusals(
    MESSAGE,
    ("message-user-x1-refused", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("message-user-x2-refused", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("message-user-x3-refused", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("message-user-x4-refused", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
    ("message-connector-type-refused", ("MQMQ-2.2.19.2-39", "MQDMPR-3.1.1.12-58"), "UserHeader.ConnectorType"),
)


add_bits_set(
    MESSAGE,
    ("message-user-x1-sent", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("message-user-x2-sent", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("message-user-x3-sent", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("message-user-x4-sent", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
)


# -- a second way to break a rule ----------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "message-address-of-public-name",
        ("MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "QueueManagerAddress is another queue manager than the public queue's.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, destined(PUBLIC)),
    ),
    (
        "message-transactional-sent-at-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "SentTime of a transactional message is 0.",
        field_is(MESSAGE, "UserHeader.SentTime", 0, _is_transactional),
    ),
    (
        "message-admin-queue-kept-unasked",
        ("MQMQ-2.2.19.2-31",),
        "The bits that ask for acknowledgments are cleared beside an AdminQueue.",
        wrong_fields(MESSAGE, {"MessagePropertiesHeader.Flags": 0}, _names_admin_queue),
    ),
):
    add(_name, _rules, _says, _install)


INFINITE = 0xFFFFFFFF


add(
    "response-queue-that-is-the-administration-queue-lost",
    (
        "MQMQ-2.2.19.2-D08",
        "MQDMPR-3.1.7.1.31-D17",
        "MQDMPR-3.1.1.12-55",
    ),
    "A message with RQ 1 has no response queue.",
    change_insertion(
        lambda message: (
            replace(message, ResponseQueueFormatName=None)
            if message.ResponseQueueFormatName == message.AdministrationQueueFormatName
            else message
        )
    ),
    blind=True,
)


@fault("no-time-to-be-received-taken-for-endless", breaks="MQMQ-2.2.19.2-D03", blind=True)
class NoTimeToBeReceivedTakenForEndless(Lifetimes):
    """A TimeToBeReceived of 0 is taken for none: the message stays in its queue for ever."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TimeToBeReceived:
            super().watch_received(position)


@fault(
    "time-to-be-received-of-transactional-messages-not-watched",
    breaks=("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    blind=True,
)
class TimeToBeReceivedOfTransactionalMessagesNotWatched(Lifetimes):
    """The time to be received of a transactional message is never over."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


def _forget_extensions(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, Extension=b"")


def _forget_life(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE)


add(
    "extension-not-on-disk",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "After a restart recoverable messages have lost their extensions.",
    at_restart(_forget_extensions),
    blind=True,
)


add(
    "time-to-be-received-not-on-disk",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    "After a restart the time to be received of a message is forgotten.",
    at_restart(_forget_life),
    blind=True,
)


add(
    "admin-queue-of-another-host-sent-as-of-the-sender",
    ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
    "The administration queue of a message that is on neither queue manager is sent with AQ 2.",
    packets(
        UserMessagePacket,
        lambda packet: replace(
            packet,
            BaseHeader=replace(packet.BaseHeader, PacketSize=0),
            UserHeader=replace(
                packet.UserHeader,
                Flags=packet.UserHeader.Flags & ~UserHeader.flags(AQ=7) | UserHeader.flags(AQ=2),
                AdminQueue=PrivateQueueFormatNameId(packet.UserHeader.AdminQueue.PrivateQueueIdentifier),
            ),
        ).build(),
        lambda packet: packet.UserHeader.AQ == 6,
    ),
    blind=True,
)
