"""Faults of MS-MQMQ 2.5 Message Properties for Digital Signatures: one property does not count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, DirectQueueFormatName, MessagePropertiesHeader, UserHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

Change = Callable[[UserMessagePacket], UserMessagePacket]
SIG10, SIG20, SIG30 = SignatureType.SIG10, SignatureType.SIG20, SignatureType.SIG30


def _counted_as(path: str, value: Any) -> Change:
    """Give a field another value when the signature is made; callables get the old one."""

    def change(packet: UserMessagePacket) -> UserMessagePacket:
        changed: UserMessagePacket = set_fields(packet, {path: value})
        return changed

    return change


def _without(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


def _with_priority_3(flags: int) -> int:
    return flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=3)


def _lower(queue: Any) -> Any:
    if not isinstance(queue, DirectQueueFormatName):
        return queue
    return replace(queue, DirectFormatName=queue.DirectFormatName.lower())


def _ends_with_1(guid: UUID) -> UUID:
    return UUID(bytes=guid.bytes[:15] + b"\1")


def _one_destination(packet: UserMessagePacket) -> UserMessagePacket:
    if packet.MultiQueueFormatHeader is None:
        return packet
    return _counted_as("MultiQueueFormatHeader.Destination.FormatNameList", lambda names: names[:1])(packet)


def _signed_otherwise(of: SignatureType, change: Change) -> Install:
    """Make signatures of a kind of a changed packet."""

    class SignedOtherwise(SecurityOnReceipt):
        def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            return super().signed_properties(change(packet) if kind is of else packet, kind)

    return replace_part(SignedOtherwise)


for _says, _change, _signatures in (
    (
        "CorrelationID counts as 0",
        _counted_as("MessagePropertiesHeader.CorrelationID", bytes(20)),
        (
            (SIG10, "sig10-without-correlation-id", "MQMQ-2.5.1-02"),
            (SIG20, "sig20-without-correlation-id", "MQMQ-2.5.2-02"),
            (SIG30, "sig30-without-correlation-id", "MQMQ-2.5.3-02"),
        ),
    ),
    (
        "ApplicationTag counts as 0",
        _counted_as("MessagePropertiesHeader.ApplicationTag", 0),
        (
            (SIG10, "sig10-without-application-tag", "MQMQ-2.5.1-03"),
            (SIG20, "sig20-without-application-tag", "MQMQ-2.5.2-03"),
            (SIG30, "sig30-without-application-tag", "MQMQ-2.5.3-03"),
        ),
    ),
    (
        "the body does not count",
        _counted_as("MessagePropertiesHeader.MessageBody", b""),
        (
            (SIG10, "sig10-without-body", "MQMQ-2.5.1-04"),
            (SIG20, "sig20-without-body", "MQMQ-2.5.2-04"),
            (SIG30, "sig30-without-body", "MQMQ-2.5.3-04"),
        ),
    ),
    (
        "the label does not count",
        _counted_as("MessagePropertiesHeader.Label", None),
        (
            (SIG10, "sig10-without-label", "MQMQ-2.5.1-05"),
            (SIG20, "sig20-without-label", "MQMQ-2.5.2-05"),
            (SIG30, "sig30-without-label", "MQMQ-2.5.3-05"),
        ),
    ),
    (
        "the response queue does not count",
        _counted_as("UserHeader.ResponseQueue", None),
        (
            (SIG10, "sig10-without-response-queue", "MQMQ-2.5.1-06"),
            (SIG20, "sig20-without-response-queue", "MQMQ-2.5.2-06"),
            (SIG30, "sig30-without-response-queue", "MQMQ-2.5.3-06"),
        ),
    ),
    (
        "the admin queue counts in lower case",
        _counted_as("UserHeader.AdminQueue", _lower),
        (
            (SIG10, "sig10-without-admin-queue", "MQMQ-2.5.1-07"),
            (SIG20, "sig20-without-admin-queue", "MQMQ-2.5.2-07"),
            (SIG30, "sig30-without-admin-queue", "MQMQ-2.5.3-07"),
        ),
    ),
    (
        "the extension does not count",
        _counted_as("MessagePropertiesHeader.ExtensionData", b""),
        ((SIG30, "sig30-without-extension", "MQMQ-2.5.3-08"),),
    ),
    (
        "the first destination alone counts",
        _one_destination,
        ((SIG30, "sig30-without-format-names", "MQMQ-2.5.3-09"),),
    ),
    (
        "the source ends with byte 1",
        _counted_as("UserHeader.SourceQueueManager", _ends_with_1),
        (
            (SIG20, "sig20-without-source", "MQMQ-2.5.2-08"),
            (SIG30, "sig30-without-source", "MQMQ-2.5.3-10"),
        ),
    ),
    (
        "DM counts as 0",
        _counted_as("UserHeader.Flags", _without(UserHeader.flags(DM=3))),
        (
            (SIG20, "sig20-without-delivery", "MQMQ-2.5.2-09"),
            (SIG30, "sig30-without-delivery", "MQMQ-2.5.3-11"),
        ),
    ),
    (
        "the priority counts as 3",
        _counted_as("BaseHeader.Flags", _with_priority_3),
        (
            (SIG20, "sig20-without-priority", "MQMQ-2.5.2-10"),
            (SIG30, "sig30-without-priority", "MQMQ-2.5.3-12"),
        ),
    ),
    (
        "JN counts as 0",
        _counted_as("UserHeader.Flags", _without(UserHeader.flags(JN=1))),
        (
            (SIG20, "sig20-without-dead-letter", "MQMQ-2.5.2-11"),
            (SIG30, "sig30-without-dead-letter", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "JP counts as 0",
        _counted_as("UserHeader.Flags", _without(UserHeader.flags(JP=1))),
        (
            (SIG20, "sig20-without-journal", "MQMQ-2.5.2-11"),
            (SIG30, "sig30-without-journal", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "only the bits of arrival count",
        _counted_as("MessagePropertiesHeader.Flags", _without(MessagePropertiesHeader.flags(PR=1, NR=1))),
        (
            (SIG20, "sig20-without-acknowledgments", "MQMQ-2.5.2-12"),
            (SIG30, "sig30-without-acknowledgments", "MQMQ-2.5.3-14"),
        ),
    ),
    (
        "the class counts as 0",
        _counted_as("MessagePropertiesHeader.MessageClass", 0),
        (
            (SIG20, "sig20-without-class", "MQMQ-2.5.2-13"),
            (SIG30, "sig30-without-class", "MQMQ-2.5.3-15"),
        ),
    ),
    (
        "the type of the body counts as 0",
        _counted_as("MessagePropertiesHeader.BodyType", 0),
        (
            (SIG20, "sig20-without-body-type", "MQMQ-2.5.2-14"),
            (SIG30, "sig30-without-body-type", "MQMQ-2.5.3-16"),
        ),
    ),
    (
        "ConnectorType does not count",
        _counted_as("UserHeader.ConnectorType", None),
        (
            (SIG20, "sig20-without-connector", "MQMQ-2.5.2-15"),
            (SIG30, "sig30-without-connector", "MQMQ-2.5.3-17"),
        ),
    ),
    (
        "the destination counts in lower case",
        _counted_as("UserHeader.DestinationQueue", _lower),
        ((SIG20, "sig20-without-destination", "MQMQ-2.5.2-16"),),
    ),
):
    for _kind, _name, _rule in _signatures:
        add(_name, _rule, f"In a signature of kind {_kind.name} {_says}.", _signed_otherwise(_kind, _change))
