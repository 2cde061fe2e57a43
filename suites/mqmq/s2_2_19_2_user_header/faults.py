"""Faults of MS-MQMQ 2.2.19.2 UserHeader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import add_bits_set, add_refusals, bit_clear, bit_set, field_is, off_by, recomputed
from harness.faults.parts import fault, replaced
from harness.faults.primitives import packets, set_fields, skip, wrong_fields
from harness.faults.registry import FaultyCore, Install, add
from harness.faults.sent_messages import resized
from reference_qm.codec import FormatError, Packet, UserHeader, UserMessagePacket
from reference_qm.core.protocol.expiring import Expiring
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now

MESSAGE = UserMessagePacket
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000fe")
"""A queue manager that is nowhere."""
ON_DESTINATION, PUBLIC, DIRECT = 3, 5, 7
"""Values of DQ and AQ: a private queue of the destination, a public queue, a direct name."""
HOUR_S = 3600
NAMES_AT = 64


def _destined(kind: int) -> Callable[[UserMessagePacket], bool]:
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
    return resized(data[: end - len(user.build()) + len(bare.build())] + data[end:])


# -- what is sent --------------------------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "message-source-changed",
        ("MQMQ-2.2.19.2-01", "MQMQ-2.2.18.1.3-01"),
        "SourceQueueManager is another queue manager.",
        field_is(MESSAGE, "UserHeader.SourceQueueManager", OTHER),
    ),
    (
        "message-address-of-direct-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-04"),
        "QueueManagerAddress is not zero for a direct name.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, _destined(DIRECT)),
    ),
    (
        "message-address-of-private-name",
        ("MQMQ-2.2.19.2-02", "MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "QueueManagerAddress is another queue manager than the private queue's.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, _destined(ON_DESTINATION)),
    ),
    (
        "message-sent-earlier",
        ("MQMQ-2.2.19.2-06",),
        "SentTime is an hour ago.",
        off_by(MESSAGE, "UserHeader.SentTime", -HOUR_S),
    ),
    (
        "message-identifiers-equal",
        ("MQMQ-2.2.19.2-07", "MQMQ-2.2.18.1.3-02"),
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
        "MQMQ-2.2.19.2-D01",
        "QueueManagerAddress stands before SourceQueueManager.",
        packets(MESSAGE, _swapped(16, 32, 16)),
    ),
    (
        "message-times-swapped",
        "MQMQ-2.2.19.2-D01",
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
        recomputed(MESSAGE, "UserHeader.DM", lambda delivery: delivery << 1),
    ),
    (
        "message-life-in-milliseconds",
        "MQMQ-2.2.19.2-D03",
        "TimeToBeReceived is in milliseconds.",
        recomputed(MESSAGE, "UserHeader.TimeToBeReceived", lambda seconds: seconds * 1_000),
    ),
    (
        "message-sent-in-local-time",
        "MQMQ-2.2.19.2-D05",
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
    ("message-connector-type-refused", "MQMQ-2.2.19.2-39", "UserHeader.ConnectorType"),
)


add_bits_set(
    MESSAGE,
    ("message-user-x1-sent", "MQMQ-2.2.19.2-12", "UserHeader.X1"),
    ("message-user-x2-sent", "MQMQ-2.2.19.2-24", "UserHeader.X2"),
    ("message-user-x3-sent", "MQMQ-2.2.19.2-26", "UserHeader.X3"),
    ("message-user-x4-sent", "MQMQ-2.2.19.2-28", "UserHeader.X4"),
)


def _overlooked(detail: str) -> Install:
    """Overlook what is malformed for one reason."""

    class Overlooked(Identifying):
        def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
            if detail not in str(error):
                super().refuse_malformed(session, error, now)

    return replaced(Overlooked)


for _name, _rule, _bits in (
    ("message-destination-type-overlooked", "MQMQ-2.2.19.2-30", "DQ"),
    ("message-administration-type-overlooked", "MQMQ-2.2.19.2-34", "AQ"),
):
    add(_name, _rule, f"A message with a {_bits} that is not listed is overlooked.", _overlooked(f"{_bits} 0x"))


@fault("message-response-queue-host", breaks="MQMQ-2.2.19.2-37")
class ResponseQueueOfSource(Positions):
    """A response queue with RQ 4 is taken to be the source's."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        name = message.ResponseQueueFormatName
        if name is not None and name.upper().startswith("PRIVATE="):
            name = rf"PRIVATE={message.Identifier.QueueManagerGuid}\{name.rpartition(chr(92))[2]}"
        return super().insert_message(queue, replace(message, ResponseQueueFormatName=name))


@fault("message-same-queue-twice-is-once", breaks="MQMQ-2.2.19.2-D08")
class SameAsAdminIsNone(Positions):
    """With RQ 1 there is no response queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        same = message.ResponseQueueFormatName == message.AdministrationQueueFormatName
        name = None if same else message.ResponseQueueFormatName
        return super().insert_message(queue, replace(message, ResponseQueueFormatName=name))


def _at_the_receiver(attribute: str) -> Install:
    """Take a private queue that has the sender for its host for one of the receiver."""

    class AtReceiver(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            name = str(getattr(message, attribute) or "")
            own = f"PRIVATE={message.Identifier.QueueManagerGuid}".upper()
            if name.upper().startswith(own):
                moved: dict[str, Any] = {attribute: f"PRIVATE={self.qm.adm.Identifier}{name[len(own) :]}"}
                message = replace(message, **moved)
            return super().insert_message(queue, message)

    return replaced(AtReceiver)


for _name, _rule, _attribute in (
    ("message-admin-queue-here", "MQMQ-2.2.19.2-D07", "AdministrationQueueFormatName"),
    ("message-response-queue-here", "MQMQ-2.2.19.2-D08", "ResponseQueueFormatName"),
):
    add(_name, _rule, "A private queue of the source is taken for one of the receiver.", _at_the_receiver(_attribute))


def _prefixed(queue: Any) -> Any:
    return replace(queue, DirectFormatName=f"DIRECT={queue.DirectFormatName}", Padding=None)


def _public_destination_turned(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:NAMES_AT] + UUID(bytes_le=data[NAMES_AT : NAMES_AT + 16]).bytes + data[NAMES_AT + 16 :]


for _name, _rule, _says, _install in (
    (
        "message-public-destination-big-endian",
        "MQMQ-2.2.19.2-D06",
        "The GUID of a public destination is big-endian.",
        packets(MESSAGE, _public_destination_turned, _destined(PUBLIC)),
    ),
    (
        "message-direct-destination-with-prefix",
        "MQMQ-2.2.19.2-D06",
        "A direct destination begins with DIRECT=.",
        wrong_fields(MESSAGE, {"UserHeader.DestinationQueue": _prefixed}, _destined(DIRECT)),
    ),
    (
        "message-admin-queue-of-destination",
        "MQMQ-2.2.19.2-D07",
        "AQ of a private queue of the source is 3.",
        recomputed(MESSAGE, "UserHeader.AQ", lambda kind: 3 if kind == 2 else kind),
    ),
    (
        "message-response-queue-of-source",
        "MQMQ-2.2.19.2-D08",
        "RQ of a private queue of the destination is 2.",
        recomputed(MESSAGE, "UserHeader.RQ", lambda kind: 2 if kind == 3 else kind),
    ),
):
    add(_name, _rule, _says, _install)


@fault("message-private-destination-unread", breaks="MQMQ-2.2.19.2-D06")
class PrivateDestinationUnread(Identifying):
    """A destination that is the number of a private queue cannot be read."""

    def check_form(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and packet.UserHeader.DQ == ON_DESTINATION:
            raise FormatError("UserHeader.DestinationQueue", NAMES_AT, "a fault", "unread")
        super().check_form(packet)


@fault("message-of-yesterday-expires", breaks=("MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05"))
class OldExpires(Positions):
    """A message that was an hour on its way has no time left to be received."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.ArrivalTime - message.SentTime >= HOUR_S:
            message = replace(message, TimeToBeReceived=0)
        return super().insert_message(queue, message)


# -- what becomes of a message -------------------------------------------------------------------------------------

add(
    "handed-never-too-late",
    "MQMQ-2.2.19.2-05",
    "No message leaves its queue by itself.",
    skip(Expiring.on_expiration_timer),
)


def _empty_on_restart(faulty: FaultyCore) -> None:
    def empty(again: FaultyCore) -> None:
        for queue in again.core.adm.QueueCollection.values():
            for position in list(queue.MessagePositionList):
                queue.MessagePositionList.remove(position)

    faulty.on_restart.append(empty)


def _kept_out_of(which: Callable[[QueueManager], Queue]) -> Install:
    """Leave where they are the messages that should be moved to a queue."""

    class KeptOut(Positions):
        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            return None if queue is which(self.qm) else super().move_message(position, queue)

    return replaced(KeptOut)


add("message-recoverable-forgotten", "MQMQ-2.2.19.2-11", "A restart empties every queue.", _empty_on_restart)
add(
    "message-dead-letter-not-kept",
    "MQMQ-2.2.19.2-13",
    "Nothing gets into the SystemDeadletterQueue.",
    _kept_out_of(lambda qm: qm.adm.SystemDeadletterQueue),
)
add(
    "message-journal-not-kept",
    "MQMQ-2.2.19.2-14",
    "Nothing gets into the SystemJournalQueue.",
    _kept_out_of(lambda qm: qm.adm.SystemJournalQueue),
)


def _restored(change: Callable[[list[MessagePosition]], None]) -> Callable[[FaultyCore], None]:
    """Change what is in the queues after a restart."""

    def install(faulty: FaultyCore) -> None:
        def again(after: FaultyCore) -> None:
            for queue in after.core.adm.QueueCollection.values():
                change(list(queue.MessagePositionList))

        faulty.on_restart.append(again)

    return install


def _without_extensions(positions: list[MessagePosition]) -> None:
    for position in positions:
        position.MessageReference = replace(position.MessageReference, Extension=b"")


add(
    "message-restored-without-extension",
    "MQMQ-2.2.19.2-11",
    "An extension does not survive a restart.",
    _restored(_without_extensions),
)


def _kept_with_other_label(which: Callable[[QueueManager], Queue]) -> Install:
    """Keep messages in a system queue with another label."""

    class OtherLabel(Positions):
        def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
            if queue is which(self.qm):
                message = replace(message, Label="")
            return super().insert_message(queue, message)

        def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
            if queue is which(self.qm):
                position.MessageReference = replace(position.MessageReference, Label="")
            return super().move_message(position, queue)

    return replaced(OtherLabel)


add(
    "message-journaled-without-label",
    "MQMQ-2.2.19.2-14",
    "A message in the journal has lost its label.",
    _kept_with_other_label(lambda qm: qm.adm.SystemJournalQueue),
)

# -- a second way to break a rule ----------------------------------------------------------------------------------

for _name, _rules, _says, _install in (
    (
        "message-address-of-public-name",
        ("MQMQ-2.2.19.2-03", "MQMQ-2.2.19.2-29"),
        "QueueManagerAddress is another queue manager than the public queue's.",
        field_is(MESSAGE, "UserHeader.QueueManagerAddress", OTHER, _destined(PUBLIC)),
    ),
    (
        "message-transactional-sent-at-0",
        ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05"),
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
