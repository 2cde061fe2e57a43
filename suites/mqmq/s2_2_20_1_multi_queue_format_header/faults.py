"""Faults of MS-MQMQ 2.2.20.1 MultiQueueFormatHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import packets, set_fields
from harness.faults.registry import add
from harness.faults.sent_messages import carries, resized
from reference_qm.codec import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    PrivateQueueFormatName,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.protocol.sending import Sending
from reference_qm.model.adm import MessagePosition

MESSAGE = UserMessagePacket
LIST_HEAD = 12


@fault("handed-one-destination", breaks="MQMQ-2.2.20.1-01")
class OneDestination(Sending):
    """Destination lists only the queue that the copy goes to."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is not None:
            alone = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=alone)
        return super().construct_user_message(position)


def _first_queue_for_all(packet: UserMessagePacket) -> bytes:
    """Let every copy name the first destination in its UserHeader."""
    header = packet.MultiQueueFormatHeader
    names = [] if header is None else [one.FormatName for one in header.Destination.FormatNameList]
    direct = next((name for name in names if isinstance(name, MQFDirectQueueFormatName)), None)
    if direct is None:
        return packet.build()
    name = DirectQueueFormatName(direct.DirectFormatName.removeprefix("DIRECT="))
    changes = {
        "UserHeader.DestinationQueue": name,
        "UserHeader.Flags": packet.UserHeader.Flags | UserHeader.flags(DQ=7),
    }
    moved: UserMessagePacket = set_fields(packet, {"BaseHeader.PacketSize": 0, **changes})
    return moved.build()


def _lists_turned(packet: UserMessagePacket) -> bytes:
    """Put the lists of administration and response queues before that of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    first, *others = (one.build() for one in (header.Destination, header.Administration, header.Response))
    whole = b"".join([first, *others])
    return packet.build().replace(whole, b"".join([*others, first]))


def _count_before_id(packet: UserMessagePacket) -> bytes:
    """Put ElementCount before HeaderID and Reserved."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data = header.Destination.build()
    return packet.build().replace(data, data[:4] + data[8:12] + data[4:8] + data[12:])


def _unpadded(packet: UserMessagePacket) -> bytes:
    """Leave out the padding of the list of destinations."""
    header = packet.MultiQueueFormatHeader
    if header is None:
        return packet.build()
    data, padded = packet.build(), header.Destination.build()
    names = sum(len(one.build()) for one in header.Destination.FormatNameList)
    return resized(data.replace(padded, padded[: LIST_HEAD + names]))


def _private_names_unaligned(packet: UserMessagePacket) -> bytes:
    """Let the GUID of a private queue in a list follow its FormatType at once."""
    data = packet.build()
    for one in packet.MultiQueueFormatHeader.Destination.FormatNameList if packet.MultiQueueFormatHeader else ():
        if isinstance(one.FormatName, PrivateQueueFormatName):
            name = one.FormatName.build()
            data = data.replace(b"\2\0\0\0" + name, b"\2\0" + name)
    return resized(data)


def _size_before_id(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:-8] + data[-4:] + data[-8:-4]


def _byte_names(packet: UserMessagePacket) -> bytes:
    """Let the direct names of a list end with one byte of 0."""
    header = packet.MultiQueueFormatHeader
    data = packet.build()
    for one in header.Destination.FormatNameList if header is not None else ():
        name = one.build()
        data = data.replace(name, name[:-1])
    return resized(data)


for _name, _rules, _says, _change in (
    (
        "list-copies-to-the-first",
        ("MQMQ-2.2.20.1-D02",),
        "Every copy names the first queue of the list.",
        _first_queue_for_all,
    ),
    (
        "list-destinations-last",
        ("MQMQ-2.2.20.1-D03", "MQMQ-2.2.20.2-D01"),
        "The list of destinations is behind the other two.",
        _lists_turned,
    ),
    ("list-count-before-id", ("MQMQ-2.2.20.2-D02",), "ElementCount stands before HeaderID.", _count_before_id),
    (
        "list-unpadded",
        ("MQMQ-2.2.20.2-D03",),
        "The names of a list are not padded.",
        _unpadded,
    ),
    (
        "list-private-name-unaligned",
        ("MQMQ-2.2.18.1.7.2-D01",),
        "The name of a private queue in a list begins where the one before ends.",
        _private_names_unaligned,
    ),
    ("list-signature-size-first", ("MQMQ-2.2.20.3-D01",), "Size of the signature stands before ID.", _size_before_id),
    ("list-names-end-with-a-byte", ("MQMQ-2.2.18.1.4.1-D01",), "A name in a list ends with a byte of 0.", _byte_names),
):
    add(_name, _rules, _says, packets(MESSAGE, _change, carries("MultiQueueFormatHeader")))


@fault("list-of-one", breaks="MQMQ-2.2.20.1-D01")
class ListOfOne(Sending):
    """A message for one queue has lists as well."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.DestinationMultiQueueFormatName is None:
            listed = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=listed)
        return super().construct_user_message(position)


@fault("list-left-out", breaks="MQMQ-2.2.20.1-D01")
class ListLeftOut(Sending):
    """A message for several queues has no lists."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        unlisted = replace(position.MessageReference, DestinationMultiQueueFormatName=None)
        return super().construct_user_message(replace(position, MessageReference=unlisted))
