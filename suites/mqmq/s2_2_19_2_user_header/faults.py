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
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

SECOND_QUEUE_MANAGER_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""The GUID of an unknown queue manager."""
ON_DESTINATION, PUBLIC, DIRECT = 3, 5, 7
"""The values of DQ and AQ for a private queue of the destination, a public queue and a direct name."""
SECONDS_PER_HOUR = 3600
QUEUE_NAMES_OFFSET = 64


def has_dq(kind: int) -> Callable[[UserMessagePacket], bool]:
    """Return a condition that is true for messages whose UserHeader has the given DQ."""
    return lambda packet: kind == packet.UserHeader.DQ


def _is_transactional(packet: UserMessagePacket) -> bool:
    return bool(packet.UserHeader.TH)


def _names_admin_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.AdminQueue is not None


def _names_no_admin_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.AdminQueue is None


def _names_response_queue(packet: UserMessagePacket) -> bool:
    return packet.UserHeader.ResponseQueue is not None


def _remove_response_queue(packet: UserMessagePacket) -> bytes:
    """Remove the response queue from a UserMessage, but keep its RQ."""
    user = packet.UserHeader
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(user.build())
    bare = replace(user, ResponseQueue=None, Flags=user.Flags & ~UserHeader.flags(RQ=7))
    return correct_packet_size(data[: end - len(user.build()) + len(bare.build())] + data[end:])


# -- sent messages --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "sender-user-message-source-queue-manager-wrong",
        ("MQMQ-2.2.19.2-01", "MQDMPR-3.1.1.12-D51", "MQMQ-2.2.18.1.3-01"),
        "The sender's UserMessage carries the GUID of an unknown queue manager as SourceQueueManager.",
        field_is(UserMessagePacket, "UserHeader.SourceQueueManager", SECOND_QUEUE_MANAGER_GUID),
    ),
    (
        "sender-direct-message-queue-manager-address-not-zero",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-04"),
        "The sender's UserMessage to a direct name carries a nonzero QueueManagerAddress.",
        field_is(UserMessagePacket, "UserHeader.QueueManagerAddress", SECOND_QUEUE_MANAGER_GUID, has_dq(DIRECT)),
    ),
    (
        "sender-queue-manager-address-wrong-for-private-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender's UserMessage to a private queue carries the QueueManagerAddress of an unknown queue manager.",
        field_is(
            UserMessagePacket, "UserHeader.QueueManagerAddress", SECOND_QUEUE_MANAGER_GUID, has_dq(ON_DESTINATION)
        ),
    ),
    (
        "sender-user-message-sent-time-1-hour-early",
        ("MQMQ-2.2.19.2-06",),
        "The sender's UserMessage carries a SentTime that is one hour too early.",
        off_by(UserMessagePacket, "UserHeader.SentTime", -SECONDS_PER_HOUR),
    ),
    (
        "sender-user-message-message-id-always-7",
        ("MQMQ-2.2.19.2-07", "MQDMPR-3.1.1.12-D02", "MQMQ-2.2.18.1.3-02"),
        "The sender's UserMessages all carry MessageID 7.",
        field_is(UserMessagePacket, "UserHeader.MessageID", 7),
    ),
    (
        "sender-user-message-rc-0x1e",
        ("MQMQ-2.2.19.2-08",),
        "The sender's UserMessage carries RC 0x1E.",
        field_is(UserMessagePacket, "UserHeader.RC", 0x1E),
    ),
    (
        "sender-user-message-dm-2",
        ("MQMQ-2.2.19.2-09",),
        "The sender's UserMessage carries DM 2.",
        field_is(UserMessagePacket, "UserHeader.DM", 2),
    ),
    (
        "sender-user-message-dq-1",
        ("MQMQ-2.2.19.2-15",),
        "The sender's UserMessage carries DQ 1.",
        field_is(UserMessagePacket, "UserHeader.DQ", 1),
    ),
    (
        "sender-user-message-aq-1",
        ("MQMQ-2.2.19.2-16",),
        "The sender's UserMessage carries AQ 1.",
        field_is(UserMessagePacket, "UserHeader.AQ", 1),
    ),
    (
        "sender-user-message-sh-without-security-header",
        ("MQMQ-2.2.19.2-18", "MQMQ-2.2.20-04"),
        "The sender's UserMessage has UserHeader.Flags.SH set, but contains no SecurityHeader.",
        bit_set(UserMessagePacket, "UserHeader.SH"),
    ),
    (
        "sender-user-message-th-without-transaction-header",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "The sender's UserMessage has TH set, but contains no TransactionHeader.",
        bit_set(UserMessagePacket, "UserHeader.TH"),
    ),
    (
        "sender-transactional-message-th-clear",
        ("MQMQ-2.2.19.2-19", "MQMQ-2.2.20-03"),
        "The sender's UserMessage contains a TransactionHeader, but has TH clear.",
        bit_clear(UserMessagePacket, "UserHeader.TH"),
    ),
    (
        "sender-transactional-message-dm-0",
        ("MQMQ-2.2.19.2-20",),
        "The sender's transactional UserMessage carries DM 0.",
        bit_clear(UserMessagePacket, "UserHeader.DM", _is_transactional),
    ),
    (
        "sender-user-message-mp-clear",
        ("MQMQ-2.2.19.2-21", "MQMQ-2.2.20-01", "MQMQ-2.2.20-05"),
        "The sender leaves MP clear in a UserMessage.",
        bit_clear(UserMessagePacket, "UserHeader.MP"),
    ),
    (
        "sender-user-message-cq-without-connector-type",
        ("MQMQ-2.2.19.2-22", "MQMQ-2.2.19.2-38"),
        "The sender's UserMessage has CQ set, but contains no ConnectorType.",
        bit_set(UserMessagePacket, "UserHeader.CQ"),
    ),
    (
        "sender-user-message-mq-without-lists",
        ("MQMQ-2.2.19.2-23", "MQMQ-2.2.20-08"),
        "The sender's UserMessage has MQ set, but contains no MultiQueueFormatHeader.",
        bit_set(UserMessagePacket, "UserHeader.MQ"),
    ),
    (
        "sender-user-message-ah-set",
        ("MQMQ-2.2.19.2-25",),
        "The sender sets AH in a UserMessage.",
        bit_set(UserMessagePacket, "UserHeader.AH"),
    ),
    (
        "sender-user-message-hh-without-soap-header",
        ("MQMQ-2.2.19.2-27", "MQMQ-2.2.20-07"),
        "The sender's UserMessage has HH set, but contains no SoapHeader.",
        bit_set(UserMessagePacket, "UserHeader.HH"),
    ),
    (
        "sender-acks-requested-without-admin-queue",
        ("MQMQ-2.2.19.2-31",),
        "The sender's UserMessage requests acknowledgments, but names no administration queue.",
        wrong_fields(
            UserMessagePacket,
            {"UserHeader.AdminQueue": None, "UserHeader.Flags": lambda old: old & ~UserHeader.flags(AQ=7)},
            _names_admin_queue,
        ),
    ),
    (
        "sender-user-message-aq-5-without-admin-queue",
        ("MQMQ-2.2.19.2-32",),
        "The sender's UserMessage has AQ 5, but contains no AdminQueue.",
        field_is(UserMessagePacket, "UserHeader.AQ", PUBLIC, _names_no_admin_queue),
    ),
    (
        "sender-user-message-aq-0-with-admin-queue",
        ("MQMQ-2.2.19.2-33",),
        "The sender's UserMessage has AQ 0, but contains an AdminQueue.",
        bit_clear(UserMessagePacket, "UserHeader.AQ", _names_admin_queue),
    ),
    (
        "sender-user-message-rq-without-response-queue",
        ("MQMQ-2.2.19.2-35",),
        "The sender's UserMessage has a nonzero RQ, but contains no ResponseQueue.",
        packets(UserMessagePacket, _remove_response_queue, _names_response_queue),
    ),
    (
        "sender-user-message-rq-0-with-response-queue",
        ("MQMQ-2.2.19.2-36",),
        "The sender's UserMessage has RQ 0, but contains a ResponseQueue.",
        bit_clear(UserMessagePacket, "UserHeader.RQ", _names_response_queue),
    ),
):
    add(_name, _rules, _says, _install)


def _swap_fields(first: int, second: int, size: int) -> Callable[[UserMessagePacket], bytes]:
    """Swap two fields of a UserMessage, each given by offset and size."""

    def swap_in_packet(packet: UserMessagePacket) -> bytes:
        data = bytearray(packet.build())
        one, other = slice(first, first + size), slice(second, second + size)
        data[one], data[other] = data[other], data[one]
        return bytes(data)

    return swap_in_packet


def _move_journaling_flags(packet: UserMessagePacket) -> int:
    """Swap JN and JP with the two bits after DQ."""
    user = packet.UserHeader
    return user.Flags & ~UserHeader.flags(JN=1, JP=1) | UserHeader.flags(JN=user.JP, JP=user.JN)


for _name, _rule, _says, _install in (
    (
        "sender-user-header-guids-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "The sender's UserHeader has QueueManagerAddress before SourceQueueManager.",
        packets(UserMessagePacket, _swap_fields(16, 32, 16)),
    ),
    (
        "sender-user-header-times-swapped",
        (
            "MQMQ-2.2.19.2-D01",
            "MQDMPR-3.1.7.1.32-08",
            "MQDMPR-3.1.7.1.32-03",
            "MQDMPR-3.1.7.1.32-02",
            "MQDMPR-3.1.7.1.32-D05",
        ),
        "The sender's UserHeader has SentTime before TimeToBeReceived.",
        packets(UserMessagePacket, _swap_fields(48, 52, 4)),
    ),
    (
        "sender-user-header-jn-and-jp-swapped",
        "MQMQ-2.2.19.2-D02",
        "The sender's UserHeader has JN and JP two bits too low, and the two bits after DQ in their place.",
        packets(
            UserMessagePacket,
            lambda packet: set_fields(packet, {"UserHeader.Flags": _move_journaling_flags(packet)}).build(),
        ),
    ),
    (
        "sender-user-header-dm-one-bit-too-high",
        "MQMQ-2.2.19.2-D02",
        "The sender writes DM of the UserHeader one bit too high.",
        change_number(UserMessagePacket, "UserHeader.DM", lambda delivery: delivery << 1),
    ),
    (
        "sender-time-to-be-received-in-milliseconds",
        "MQMQ-2.2.19.2-D03",
        "The sender writes TimeToBeReceived of a UserMessage in milliseconds.",
        change_number(UserMessagePacket, "UserHeader.TimeToBeReceived", lambda seconds: seconds * 1_000),
    ),
    (
        "sender-sent-time-in-other-time-zone",
        ("MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "The sender's UserMessage carries SentTime in the local time of a time zone 8 hours east of UTC.",
        off_by(UserMessagePacket, "UserHeader.SentTime", 8 * SECONDS_PER_HOUR),
    ),
):
    add(_name, _rule, _says, _install)

# -- received messages ----------------------------------------------------------------------------------------------

add_refusals(
    UserMessagePacket,
    ("receiver-user-header-x1-refused", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("receiver-user-header-x2-refused", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("receiver-user-header-x3-refused", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("receiver-user-header-x4-refused", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
    (
        "receiver-user-header-connector-type-refused",
        ("MQMQ-2.2.19.2-39", "MQDMPR-3.1.1.12-58"),
        "UserHeader.ConnectorType",
    ),
)


add_bits_set(
    UserMessagePacket,
    ("sender-user-header-x1-set", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("sender-user-header-x2-set", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("sender-user-header-x3-set", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("sender-user-header-x4-set", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
)


# -- further faults of rules that have a fault above -----------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "sender-queue-manager-address-wrong-for-public-name",
        ("MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "The sender's UserMessage to a public queue carries the QueueManagerAddress of an unknown queue manager.",
        field_is(UserMessagePacket, "UserHeader.QueueManagerAddress", SECOND_QUEUE_MANAGER_GUID, has_dq(PUBLIC)),
    ),
    (
        "sender-transactional-message-sent-time-zero",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
        "The sender's transactional UserMessage carries SentTime 0.",
        field_is(UserMessagePacket, "UserHeader.SentTime", 0, _is_transactional),
    ),
    (
        "sender-admin-queue-without-ack-request",
        ("MQMQ-2.2.19.2-31",),
        "The sender's UserMessage names an administration queue, but requests no acknowledgments.",
        wrong_fields(UserMessagePacket, {"MessagePropertiesHeader.Flags": 0}, _names_admin_queue),
    ),
):
    add(_name, _rules, _says, _install)


INFINITE_LIFETIME_S = 0xFFFFFFFF


add(
    "receiver-response-queue-equal-to-admin-queue-lost",
    (
        "MQMQ-2.2.19.2-D08",
        "MQDMPR-3.1.7.1.31-D17",
        "MQDMPR-3.1.1.12-55",
    ),
    "The receiver delivers a message without its response queue if its administration queue is the same queue.",
    change_insertion(
        lambda message: (
            replace(message, ResponseQueueFormatName=None)
            if message.ResponseQueueFormatName == message.AdministrationQueueFormatName
            else message
        )
    ),
    blind=True,
)


@fault("receiver-time-to-be-received-zero-never-expires", breaks="MQMQ-2.2.19.2-D03", blind=True)
class ReceiverTimeToBeReceivedZeroNeverExpires(Lifetimes):
    """The receiver keeps a message with TimeToBeReceived 0 in its queue forever."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TimeToBeReceived:
            super().watch_received(position)


@fault(
    "receiver-transactional-message-never-expires",
    breaks=("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    blind=True,
)
class ReceiverTransactionalMessageNeverExpires(Lifetimes):
    """The receiver keeps a transactional message in its queue after TimeToBeReceived has expired."""

    def watch_received(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().watch_received(position)


def _clear_extensions(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, Extension=b"")


def _clear_time_limits(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for position in queue.MessagePositionList:
            position.MessageReference = replace(position.MessageReference, TimeToBeReceived=INFINITE_LIFETIME_S)


add(
    "queue-manager-extension-not-recovered",
    ("MQMQ-2.2.19.2-11", "MQDMPR-3.1.1.12-67", "MQDMPR-3.1.1.12-20"),
    "The queue manager recovers messages without their extensions after a restart.",
    at_restart(_clear_extensions),
    blind=True,
)


add(
    "queue-manager-time-to-be-received-not-recovered",
    ("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53"),
    "The queue manager recovers messages without their TimeToBeReceived after a restart.",
    at_restart(_clear_time_limits),
    blind=True,
)


add(
    "sender-admin-queue-of-third-host-sent-with-aq-2",
    ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
    "The sender's UserMessage carries AQ 2 for an administration queue on a third host.",
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


_NO_QUEUE, _SAME_QUEUE, _DIRECT = 0, 1, 7


@fault("response-queue-of-rq-1-read-only-with-direct-admin-queue", breaks="MQMQ-2.2.19.2-D08")
class ResponseQueueOfRq1ReadOnlyWithDirectAdminQueue(Receiving):
    """The receiver delivers a message with RQ 1 without a response queue, unless AQ of the message is 7."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        user = packet.UserHeader
        if user.RQ == _SAME_QUEUE and user.AQ != _DIRECT:
            flags = user.Flags - UserHeader.flags(RQ=_SAME_QUEUE) + UserHeader.flags(RQ=_NO_QUEUE)
            packet = replace(packet, UserHeader=replace(user, Flags=flags))
        super().take_message(session, packet, receipt, now)


@fault("routed-message-addressed-to-next-hop", breaks=("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"))
class RoutedMessageAddressedToNextHop(Resolving):
    """When a message is sent through another queue manager, the sender sets QueueManagerAddress to the GUID of that
    queue manager.
    """

    def address_message(self, session: Session, position: OutgoingMessagePosition) -> None:
        destination, session.destination = session.destination, session.RemoteQMGuid
        super().address_message(session, position)
        session.destination = destination
