"""Faults of MS-MQMQ 2.2.19.2 UserHeader: how that of a message is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import change_number
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_2_user_header.faults import (
    DIRECT,
    HOUR_S,
    MESSAGE,
    NAMES_AT,
    ON_DESTINATION,
    PUBLIC,
    destined,
)


def _overlooked(detail: str) -> Install:
    """Overlook what is malformed for one reason."""

    class Overlooked(Closing):
        def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
            if detail not in str(error):
                super().refuse_malformed(session, error, now)

    return replace_part(Overlooked)


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


@fault("message-same-queue-twice-is-once", breaks=("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.1.12-55", "MQDMPR-3.1.7.1.31-D17"))
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

    return replace_part(AtReceiver)


for _name, _breaks, _attribute in (
    (
        "message-admin-queue-here",
        ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.31-D16", "MQDMPR-3.1.1.12-54"),
        "AdministrationQueueFormatName",
    ),
    (
        "message-response-queue-here",
        ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.7.1.31-D17", "MQDMPR-3.1.1.12-55"),
        "ResponseQueueFormatName",
    ),
):
    add(_name, _breaks, "A private queue of the source is taken for one of the receiver.", _at_the_receiver(_attribute))


def _prefixed(queue: Any) -> Any:
    return replace(queue, DirectFormatName=f"DIRECT={queue.DirectFormatName}", Padding=None)


def _public_destination_turned(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:NAMES_AT] + UUID(bytes_le=data[NAMES_AT : NAMES_AT + 16]).bytes + data[NAMES_AT + 16 :]


for _name, _rules, _says, _install in (
    (
        "message-public-destination-big-endian",
        ("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "The GUID of a public destination is big-endian.",
        packets(MESSAGE, _public_destination_turned, destined(PUBLIC)),
    ),
    (
        "message-direct-destination-with-prefix",
        ("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.32-D14"),
        "A direct destination begins with DIRECT=.",
        wrong_fields(MESSAGE, {"UserHeader.DestinationQueue": _prefixed}, destined(DIRECT)),
    ),
    (
        "message-admin-queue-of-destination",
        ("MQMQ-2.2.19.2-D07", "MQDMPR-3.1.7.1.32-D15", "MQDMPR-3.1.1.12-54"),
        "AQ of a private queue of the source is 3.",
        change_number(MESSAGE, "UserHeader.AQ", lambda kind: 3 if kind == 2 else kind),
    ),
    (
        "message-response-queue-of-source",
        ("MQMQ-2.2.19.2-D08", "MQDMPR-3.1.7.1.32-D16", "MQDMPR-3.1.1.12-55"),
        "RQ of a private queue of the destination is 2.",
        change_number(MESSAGE, "UserHeader.RQ", lambda kind: 2 if kind == 3 else kind),
    ),
):
    add(_name, _rules, _says, _install)


@fault("message-private-destination-unread", breaks=("MQMQ-2.2.19.2-D06", "MQDMPR-3.1.7.1.31-D15"))
class PrivateDestinationUnread(Identifying):
    """A destination that is the number of a private queue cannot be read."""

    def check_form(self, packet: Packet) -> None:
        if isinstance(packet, UserMessagePacket) and packet.UserHeader.DQ == ON_DESTINATION:
            raise FormatError("UserHeader.DestinationQueue", NAMES_AT, "a fault", "unread")
        super().check_form(packet)


@fault(
    "message-of-yesterday-expires",
    breaks=("MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53", "MQDMPR-3.1.2.4-D01"),
)
class OldExpires(Positions):
    """A message that was an hour on its way has no time left to be received."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.ArrivalTime - message.SentTime >= HOUR_S:
            message = replace(message, TimeToBeReceived=0)
        return super().insert_message(queue, message)
