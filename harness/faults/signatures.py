"""Faults of what a signature is made of: one property does not count. Spec: MS-MQMQ 2.5.1, 2.5.2, 2.5.3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from harness.faults.primitives import procedure
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, DirectQueueFormatName, MessagePropertiesHeader, UserHeader, UserMessagePacket
from reference_qm.core.protocol.securing import Securing
from reference_qm.core.queue_manager import QueueManager
from reference_qm.security import SignatureType

Change = Callable[[UserMessagePacket], UserMessagePacket]
SECTIONS = {SignatureType.SIG10: "MQMQ-2.5.1-", SignatureType.SIG20: "MQMQ-2.5.2-", SignatureType.SIG30: "MQMQ-2.5.3-"}
NORMAL_PRIORITY = 3


def _property(name: str, value: Any) -> Change:
    def change(packet: UserMessagePacket) -> UserMessagePacket:
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, **{name: value}))

    return change


def _user(**fields: Any) -> Change:
    """Give fields of UserHeader other values; callables get the old one."""

    def change(packet: UserMessagePacket) -> UserMessagePacket:
        user = packet.UserHeader
        new = {name: value(getattr(user, name)) if callable(value) else value for name, value in fields.items()}
        return replace(packet, UserHeader=replace(user, **new))

    return change


def _without(*names: str) -> Callable[[int], int]:
    mask = UserHeader.flags(**{name: vars(UserHeader)[name].mask for name in names})
    return lambda flags: flags & ~mask


def _lower(queue: Any) -> Any:
    if not isinstance(queue, DirectQueueFormatName):
        return queue
    return replace(queue, DirectFormatName=queue.DirectFormatName.lower())


def _last_byte_one(guid: UUID) -> UUID:
    return UUID(bytes=guid.bytes[:15] + b"\1")


def _normal_priority(packet: UserMessagePacket) -> UserMessagePacket:
    others = packet.BaseHeader.Flags & ~BaseHeader.flags(PR=7)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=others | BaseHeader.flags(PR=NORMAL_PRIORITY)))


def _arrival_only(packet: UserMessagePacket) -> UserMessagePacket:
    flags = packet.MessagePropertiesHeader.Flags & ~MessagePropertiesHeader.flags(PR=1, NR=1)
    return _property("Flags", flags)(packet)


def _one_destination(packet: UserMessagePacket) -> UserMessagePacket:
    several = packet.MultiQueueFormatHeader
    if several is None:
        return packet
    first = replace(several.Destination, FormatNameList=several.Destination.FormatNameList[:1])
    return replace(packet, MultiQueueFormatHeader=replace(several, Destination=first))


class Property(NamedTuple):
    """A property that does not count, and the numbers of its rules in 2.5.1, 2.5.2 and 2.5.3."""

    slug: str
    says: str
    change: Change
    rules: tuple[str, str, str]


PROPERTIES = (
    Property("correlation-id", "CorrelationID counts as 0", _property("CorrelationID", bytes(20)), ("02", "02", "02")),
    Property("application-tag", "ApplicationTag counts as 0", _property("ApplicationTag", 0), ("03", "03", "03")),
    Property("body", "the body does not count", _property("MessageBody", b""), ("04", "04", "04")),
    Property("label", "the label does not count", _property("Label", None), ("05", "05", "05")),
    Property("response-queue", "the response queue does not count", _user(ResponseQueue=None), ("06", "06", "06")),
    Property("admin-queue", "the admin queue counts in lower case", _user(AdminQueue=_lower), ("07", "07", "07")),
    Property("extension", "the extension does not count", _property("ExtensionData", b""), ("", "", "08")),
    Property("format-names", "the first destination alone counts", _one_destination, ("", "", "09")),
    Property("source", "the source ends with byte 1", _user(SourceQueueManager=_last_byte_one), ("", "08", "10")),
    Property("delivery", "DM counts as 0", _user(Flags=_without("DM")), ("", "09", "11")),
    Property("priority", "the priority counts as 3", _normal_priority, ("", "10", "12")),
    Property("dead-letter", "JN counts as 0", _user(Flags=_without("JN")), ("", "11", "13")),
    Property("journal", "JP counts as 0", _user(Flags=_without("JP")), ("", "11", "13")),
    Property("acknowledgments", "only the bits of arrival count", _arrival_only, ("", "12", "14")),
    Property("class", "the class counts as 0", _property("MessageClass", 0), ("", "13", "15")),
    Property("body-type", "the type of the body counts as 0", _property("BodyType", 0), ("", "14", "16")),
    Property("connector", "ConnectorType does not count", _user(ConnectorType=None), ("", "15", "17")),
    Property("destination", "the destination counts in lower case", _user(DestinationQueue=_lower), ("", "16", "")),
)


def _not_counted(kind: SignatureType, change: Change) -> Install:
    def make(original: Callable[..., bytes]) -> Callable[..., bytes]:
        def content(qm: QueueManager, packet: UserMessagePacket, of: SignatureType) -> bytes:
            return original(qm, change(packet) if of is kind else packet, of)

        return content

    return procedure(Securing.signed_properties, make)


for _one in PROPERTIES:
    for (_kind, _section), _number in zip(SECTIONS.items(), _one.rules, strict=True):
        if _number:
            add(
                f"{_kind.name.lower()}-without-{_one.slug}",
                f"{_section}{_number}",
                f"In a signature of kind {_kind.name} {_one.says}.",
                _not_counted(_kind, _one.change),
            )
