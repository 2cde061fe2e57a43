"""Faults of MS-MQMQ 2.5 Message Properties for Digital Signatures: the receiver does not verify one signed property."""

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


def _set_signed_field(path: str, value: Any) -> Change:
    """Return a change that sets the field `path`; a callable `value` computes the new value from the old value."""

    def set_field_in_packet(packet: UserMessagePacket) -> UserMessagePacket:
        changed: UserMessagePacket = set_fields(packet, {path: value})
        return changed

    return set_field_in_packet


def _clear_flags(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


def _set_priority_3(flags: int) -> int:
    return flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=3)


def _lower_direct_name(queue: Any) -> Any:
    if not isinstance(queue, DirectQueueFormatName):
        return queue
    return replace(queue, DirectFormatName=queue.DirectFormatName.lower())


def _end_guid_with_1(guid: UUID) -> UUID:
    return UUID(bytes=guid.bytes[:15] + b"\1")


def _keep_one_destination(packet: UserMessagePacket) -> UserMessagePacket:
    if packet.MultiQueueFormatHeader is None:
        return packet
    return _set_signed_field("MultiQueueFormatHeader.Destination.FormatNameList", lambda names: names[:1])(packet)


def _change_signed_bytes(of: SignatureType, change: Change) -> Install:
    """Let the receiver compute the signed bytes from a changed packet, if the signature has the type `of`."""

    class SignedOtherwise(SecurityOnReceipt):
        def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            return super().signed_properties(change(packet) if kind is of else packet, kind)

    return replace_part(SignedOtherwise)


for _says, _change, _signatures in (
    (
        "with CorrelationID 0",
        _set_signed_field("MessagePropertiesHeader.CorrelationID", bytes(20)),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-correlation-id", "MQMQ-2.5.1-02"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-correlation-id", "MQMQ-2.5.2-02"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-correlation-id", "MQMQ-2.5.3-02"),
        ),
    ),
    (
        "with ApplicationTag 0",
        _set_signed_field("MessagePropertiesHeader.ApplicationTag", 0),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-application-tag", "MQMQ-2.5.1-03"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-application-tag", "MQMQ-2.5.2-03"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-application-tag", "MQMQ-2.5.3-03"),
        ),
    ),
    (
        "without the body",
        _set_signed_field("MessagePropertiesHeader.MessageBody", b""),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-body", "MQMQ-2.5.1-04"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-body", "MQMQ-2.5.2-04"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-body", "MQMQ-2.5.3-04"),
        ),
    ),
    (
        "without the label",
        _set_signed_field("MessagePropertiesHeader.Label", None),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-label", "MQMQ-2.5.1-05"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-label", "MQMQ-2.5.2-05"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-label", "MQMQ-2.5.3-05"),
        ),
    ),
    (
        "without the response queue",
        _set_signed_field("UserHeader.ResponseQueue", None),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-response-queue", "MQMQ-2.5.1-06"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-response-queue", "MQMQ-2.5.2-06"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-response-queue", "MQMQ-2.5.3-06"),
        ),
    ),
    (
        "with the administration queue in lower case",
        _set_signed_field("UserHeader.AdminQueue", _lower_direct_name),
        (
            (SIG10, "receiver-msmq-1-0-signature-ignores-admin-queue", "MQMQ-2.5.1-07"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-admin-queue", "MQMQ-2.5.2-07"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-admin-queue", "MQMQ-2.5.3-07"),
        ),
    ),
    (
        "without the extension",
        _set_signed_field("MessagePropertiesHeader.ExtensionData", b""),
        ((SIG30, "receiver-msmq-3-0-signature-ignores-extension", "MQMQ-2.5.3-08"),),
    ),
    (
        "with only the first destination",
        _keep_one_destination,
        ((SIG30, "receiver-msmq-3-0-signature-ignores-format-names", "MQMQ-2.5.3-09"),),
    ),
    (
        "with the last byte of SourceQueueManager replaced by 1",
        _set_signed_field("UserHeader.SourceQueueManager", _end_guid_with_1),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-source", "MQMQ-2.5.2-08"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-source", "MQMQ-2.5.3-10"),
        ),
    ),
    (
        "with DM 0",
        _set_signed_field("UserHeader.Flags", _clear_flags(UserHeader.flags(DM=3))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-delivery", "MQMQ-2.5.2-09"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-delivery", "MQMQ-2.5.3-11"),
        ),
    ),
    (
        "with priority 3",
        _set_signed_field("BaseHeader.Flags", _set_priority_3),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-priority", "MQMQ-2.5.2-10"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-priority", "MQMQ-2.5.3-12"),
        ),
    ),
    (
        "with JN 0",
        _set_signed_field("UserHeader.Flags", _clear_flags(UserHeader.flags(JN=1))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-dead-letter", "MQMQ-2.5.2-11"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-dead-letter", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "with JP 0",
        _set_signed_field("UserHeader.Flags", _clear_flags(UserHeader.flags(JP=1))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-journal", "MQMQ-2.5.2-11"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-journal", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "with PR and NR of MessagePropertiesHeader.Flags 0",
        _set_signed_field("MessagePropertiesHeader.Flags", _clear_flags(MessagePropertiesHeader.flags(PR=1, NR=1))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-acknowledgments", "MQMQ-2.5.2-12"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-acknowledgments", "MQMQ-2.5.3-14"),
        ),
    ),
    (
        "with MessageClass 0",
        _set_signed_field("MessagePropertiesHeader.MessageClass", 0),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-class", "MQMQ-2.5.2-13"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-class", "MQMQ-2.5.3-15"),
        ),
    ),
    (
        "with BodyType 0",
        _set_signed_field("MessagePropertiesHeader.BodyType", 0),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-body-type", "MQMQ-2.5.2-14"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-body-type", "MQMQ-2.5.3-16"),
        ),
    ),
    (
        "without ConnectorType",
        _set_signed_field("UserHeader.ConnectorType", None),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-connector", "MQMQ-2.5.2-15"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-connector", "MQMQ-2.5.3-17"),
        ),
    ),
    (
        "with the destination in lower case",
        _set_signed_field("UserHeader.DestinationQueue", _lower_direct_name),
        ((SIG20, "receiver-msmq-2-0-signature-ignores-destination", "MQMQ-2.5.2-16"),),
    ),
):
    for _kind, _name, _rule in _signatures:
        add(
            _name,
            _rule,
            f"The receiver verifies a {_kind.name} signature as if it covered the message {_says}.",
            _change_signed_bytes(_kind, _change),
        )
