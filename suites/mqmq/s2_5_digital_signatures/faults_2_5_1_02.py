"""Faults that break the rule MQMQ-2.5.1-02."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    BaseHeader,
    DirectQueueFormatName,
    MessagePropertiesHeader,
    UserHeader,
    UserMessagePacket,
)
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

PacketChange = Callable[[UserMessagePacket], UserMessagePacket]


SIG10_TYPE = SignatureType.SIG10


SIG20 = SignatureType.SIG20


SIG30 = SignatureType.SIG30


def _make_signed_field_setter(path: str, value: Any) -> PacketChange:
    """Return a change that sets the field `path`; a callable `value` computes the new value from the old value."""

    def set_field_in_packet(packet: UserMessagePacket) -> UserMessagePacket:
        changed: UserMessagePacket = set_fields(packet, {path: value})
        return changed

    return set_field_in_packet


def _make_flag_clearer(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


def _set_priority_bits_to_3(flags: int) -> int:
    return flags & ~BaseHeader.flags(PR=7) | BaseHeader.flags(PR=3)


def _convert_direct_name_to_lower_case(queue: Any) -> Any:
    if not isinstance(queue, DirectQueueFormatName):
        return queue
    return replace(queue, DirectFormatName=queue.DirectFormatName.lower())


def _replace_last_guid_byte_by_1(guid: UUID) -> UUID:
    return UUID(bytes=guid.bytes[:15] + b"\1")


def _keep_one_destination(packet: UserMessagePacket) -> UserMessagePacket:
    if packet.MultiQueueFormatHeader is None:
        return packet
    return _make_signed_field_setter("MultiQueueFormatHeader.Destination.FormatNameList", lambda names: names[:1])(
        packet
    )


def _change_signed_bytes(of: SignatureType, change: PacketChange) -> Install:
    """Let the receiver compute the signed bytes from a changed packet, if the signature has the type `of`."""

    class SignedBytesChanger(SecurityOnReceipt):
        def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            return super().build_signed_properties(change(packet) if kind is of else packet, kind)

    return replace_part(SignedBytesChanger)


for _says, _change, _signatures in (
    (
        "with CorrelationID 0",
        _make_signed_field_setter("MessagePropertiesHeader.CorrelationID", bytes(20)),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-correlation-id", "MQMQ-2.5.1-02"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-correlation-id", "MQMQ-2.5.2-02"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-correlation-id", "MQMQ-2.5.3-02"),
        ),
    ),
    (
        "with ApplicationTag 0",
        _make_signed_field_setter("MessagePropertiesHeader.ApplicationTag", 0),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-application-tag", "MQMQ-2.5.1-03"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-application-tag", "MQMQ-2.5.2-03"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-application-tag", "MQMQ-2.5.3-03"),
        ),
    ),
    (
        "without the body",
        _make_signed_field_setter("MessagePropertiesHeader.MessageBody", b""),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-body", "MQMQ-2.5.1-04"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-body", "MQMQ-2.5.2-04"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-body", "MQMQ-2.5.3-04"),
        ),
    ),
    (
        "without the label",
        _make_signed_field_setter("MessagePropertiesHeader.Label", None),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-label", "MQMQ-2.5.1-05"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-label", "MQMQ-2.5.2-05"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-label", "MQMQ-2.5.3-05"),
        ),
    ),
    (
        "without the response queue",
        _make_signed_field_setter("UserHeader.ResponseQueue", None),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-response-queue", "MQMQ-2.5.1-06"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-response-queue", "MQMQ-2.5.2-06"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-response-queue", "MQMQ-2.5.3-06"),
        ),
    ),
    (
        "with the administration queue in lower case",
        _make_signed_field_setter("UserHeader.AdminQueue", _convert_direct_name_to_lower_case),
        (
            (SIG10_TYPE, "receiver-msmq-1-0-signature-ignores-admin-queue", "MQMQ-2.5.1-07"),
            (SIG20, "receiver-msmq-2-0-signature-ignores-admin-queue", "MQMQ-2.5.2-07"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-admin-queue", "MQMQ-2.5.3-07"),
        ),
    ),
    (
        "without the extension",
        _make_signed_field_setter("MessagePropertiesHeader.ExtensionData", b""),
        ((SIG30, "receiver-msmq-3-0-signature-ignores-extension", "MQMQ-2.5.3-08"),),
    ),
    (
        "with only the first destination",
        _keep_one_destination,
        ((SIG30, "receiver-msmq-3-0-signature-ignores-format-names", "MQMQ-2.5.3-09"),),
    ),
    (
        "with the last byte of SourceQueueManager replaced by 1",
        _make_signed_field_setter("UserHeader.SourceQueueManager", _replace_last_guid_byte_by_1),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-source", "MQMQ-2.5.2-08"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-source", "MQMQ-2.5.3-10"),
        ),
    ),
    (
        "with DM 0",
        _make_signed_field_setter("UserHeader.Flags", _make_flag_clearer(UserHeader.flags(DM=3))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-delivery", "MQMQ-2.5.2-09"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-delivery", "MQMQ-2.5.3-11"),
        ),
    ),
    (
        "with priority 3",
        _make_signed_field_setter("BaseHeader.Flags", _set_priority_bits_to_3),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-priority", "MQMQ-2.5.2-10"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-priority", "MQMQ-2.5.3-12"),
        ),
    ),
    (
        "with JN 0",
        _make_signed_field_setter("UserHeader.Flags", _make_flag_clearer(UserHeader.flags(JN=1))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-dead-letter", "MQMQ-2.5.2-11"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-dead-letter", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "with JP 0",
        _make_signed_field_setter("UserHeader.Flags", _make_flag_clearer(UserHeader.flags(JP=1))),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-journal", "MQMQ-2.5.2-11"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-journal", "MQMQ-2.5.3-13"),
        ),
    ),
    (
        "with PR and NR of MessagePropertiesHeader.Flags 0",
        _make_signed_field_setter(
            "MessagePropertiesHeader.Flags", _make_flag_clearer(MessagePropertiesHeader.flags(PR=1, NR=1))
        ),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-acknowledgments", "MQMQ-2.5.2-12"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-acknowledgments", "MQMQ-2.5.3-14"),
        ),
    ),
    (
        "with MessageClass 0",
        _make_signed_field_setter("MessagePropertiesHeader.MessageClass", 0),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-class", "MQMQ-2.5.2-13"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-class", "MQMQ-2.5.3-15"),
        ),
    ),
    (
        "with BodyType 0",
        _make_signed_field_setter("MessagePropertiesHeader.BodyType", 0),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-body-type", "MQMQ-2.5.2-14"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-body-type", "MQMQ-2.5.3-16"),
        ),
    ),
    (
        "without ConnectorType",
        _make_signed_field_setter("UserHeader.ConnectorType", None),
        (
            (SIG20, "receiver-msmq-2-0-signature-ignores-connector", "MQMQ-2.5.2-15"),
            (SIG30, "receiver-msmq-3-0-signature-ignores-connector", "MQMQ-2.5.3-17"),
        ),
    ),
    (
        "with the destination in lower case",
        _make_signed_field_setter("UserHeader.DestinationQueue", _convert_direct_name_to_lower_case),
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


def _sign_and_verify_changed_packet(
    change: Callable[[Any], Any], kinds: tuple[SignatureType, ...] = tuple(SignatureType)
) -> Install:
    """Sign and verify the properties of a changed packet."""

    class CoveredPropertiesChanger(SecurityOnReceipt):
        def build_signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            return super().build_signed_properties(change(packet) if kind in kinds else packet, kind)

    return replace_part(CoveredPropertiesChanger)


def _make_properties_changer(**changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that changes properties of a message."""

    def change_properties_in_packet(packet: Any) -> Any:
        header = packet.MessagePropertiesHeader
        new = {name: one(getattr(header, name)) for name, one in changes.items()}
        return replace(packet, MessagePropertiesHeader=replace(header, **new, Padding=None))

    return change_properties_in_packet


def _convert_response_name_to_lower_case(packet: Any) -> Any:
    name = packet.UserHeader.ResponseQueue
    if not isinstance(name, DirectQueueFormatName):
        return packet
    name = replace(name, DirectFormatName=name.DirectFormatName.lower())
    return replace(packet, UserHeader=replace(packet.UserHeader, ResponseQueue=name))


def _keep_two_destinations(packet: Any) -> Any:
    lists = packet.MultiQueueFormatHeader
    if lists is None:
        return packet
    listed = replace(lists.Destination, FormatNameList=lists.Destination.FormatNameList[:2])
    return replace(packet, MultiQueueFormatHeader=replace(lists, Destination=listed))


for _name, _broken_rules, _says, _change in (
    (
        "queue-manager-signature-covers-first-4-kib-of-body",
        ("MQMQ-2.5.1-04", "MQMQ-2.5.2-04", "MQMQ-2.5.3-04"),
        "A signature covers only the first 4,096 bytes of the body.",
        _make_properties_changer(MessageBody=lambda body: body[:4096]),
    ),
    (
        "queue-manager-signature-covers-first-124-characters-of-label",
        ("MQMQ-2.5.1-05", "MQMQ-2.5.2-05", "MQMQ-2.5.3-05"),
        "A signature covers only the first 124 characters of the label.",
        _make_properties_changer(Label=lambda label: label and label[:124]),
    ),
    (
        "queue-manager-signature-covers-lower-half-of-application-tag",
        ("MQMQ-2.5.1-03", "MQMQ-2.5.2-03", "MQMQ-2.5.3-03"),
        "A signature covers only the lower 16 bits of ApplicationTag.",
        _make_properties_changer(ApplicationTag=lambda tag: tag & 0xFFFF),
    ),
    (
        "queue-manager-signature-covers-first-16-bytes-of-correlation-id",
        ("MQMQ-2.5.1-02", "MQMQ-2.5.2-02", "MQMQ-2.5.3-02"),
        "A signature covers zeros instead of the last four bytes of CorrelationID.",
        _make_properties_changer(CorrelationID=lambda old: old[:16] + bytes(4)),
    ),
    (
        "queue-manager-signature-covers-first-255-bytes-of-extension",
        ("MQMQ-2.5.3-08",),
        "An MSMQ 3.0 signature covers only the first 255 bytes of the extension.",
        _make_properties_changer(ExtensionData=lambda old: old[:255]),
    ),
    (
        "queue-manager-signature-covers-lower-case-of-response-queue",
        ("MQMQ-2.5.1-06", "MQMQ-2.5.2-06", "MQMQ-2.5.3-06"),
        "A signature covers the direct name of the response queue in lower case.",
        _convert_response_name_to_lower_case,
    ),
    (
        "queue-manager-signature-covers-first-two-names-of-list",
        ("MQMQ-2.5.3-09",),
        "An MSMQ 3.0 signature covers only the first two names of the list of destinations.",
        _keep_two_destinations,
    ),
    (
        "queue-manager-signature-covers-lower-byte-of-class",
        ("MQMQ-2.5.2-13", "MQMQ-2.5.3-15"),
        "A signature covers only the lower byte of MessageClass.",
        _make_properties_changer(MessageClass=lambda old: old & 0xFF),
    ),
):
    add(_name, _broken_rules, _says, _sign_and_verify_changed_packet(_change))


SIGNATURE_TYPE_BY_VERSION = {"1": SignatureType.SIG10, "2": SignatureType.SIG20, "3": SignatureType.SIG30}


MSMQ_VERSION_BY_VERSION_KEY = {"1": "1.0", "2": "2.0", "3": "3.0"}


PROPERTIES_HEADER_PREFIX = "MessagePropertiesHeader."


USER_HEADER_PREFIX = "UserHeader."


def _verify_changed_packet(change: Callable[[UserMessagePacket], UserMessagePacket], kind: SignatureType) -> Install:
    """Let the receiver verify a signature of one kind with the properties of a changed packet."""

    class VerifiedPropertiesChanger(SecurityOnReceipt):
        def build_signed_properties(self, packet: UserMessagePacket, of_kind: SignatureType) -> bytes:
            return super().build_signed_properties(change(packet) if of_kind is kind else packet, of_kind)

    return replace_part(VerifiedPropertiesChanger)


def _make_field_changer(path: str, change: Callable[[Any], Any]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    """Return a function that changes one field of a message, if the message contains the header of the field."""

    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        changed: UserMessagePacket = set_fields(packet, {path: change})
        return changed

    return change_packet


def _make_body_changer(change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(
        packet, {f"{PROPERTIES_HEADER_PREFIX}MessageBody": change, f"{PROPERTIES_HEADER_PREFIX}Padding": None}
    )


def _make_direct_name_changer(
    field: str, change: Callable[[str], str]
) -> Callable[[UserMessagePacket], UserMessagePacket]:
    """Return a function that changes the text of a direct name in a field of the UserHeader."""

    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        name = getattr(packet.UserHeader, field)
        if not isinstance(name, DirectQueueFormatName):
            return packet
        text = change(name.DirectFormatName)
        changed: UserMessagePacket = set_fields(
            packet, {f"{USER_HEADER_PREFIX}{field}": replace(name, DirectFormatName=text)}
        )
        return changed

    return change_packet


def _convert_text_to_lower_case(text: str) -> str:
    return text.lower()


def _remove_host_of_direct_name(text: str) -> str:
    return text.partition("\\")[2] or text


def _make_connector_type_changer(change: Callable[[UUID], UUID]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        connector = packet.UserHeader.ConnectorType
        if connector is None:
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, ConnectorType=change(connector)))

    return change_packet


def _make_destinations_changer(kept: Callable[[list[Any]], Any]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        lists = packet.MultiQueueFormatHeader
        if lists is None:
            return packet
        names = kept(list(lists.Destination.FormatNameList))
        return replace(
            packet,
            MultiQueueFormatHeader=replace(
                lists,
                Destination=replace(lists.Destination, FormatNameList=type(lists.Destination.FormatNameList)(names)),
            ),
        )

    return change_packet


SignedPropertyFaultRows = tuple[tuple[str, dict[str, str], str, Callable[[UserMessagePacket], UserMessagePacket]], ...]


SIGNED_PROPERTY_FAULT_ROWS: SignedPropertyFaultRows = (
    (
        "correlation-guid",
        {"1": "MQMQ-2.5.1-02", "2": "MQMQ-2.5.2-02", "3": "MQMQ-2.5.3-02"},
        "only the GUID of CorrelationID",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}CorrelationID", lambda value: value[:16] + bytes(4)),
    ),
    (
        "correlation-number",
        {"1": "MQMQ-2.5.1-02", "2": "MQMQ-2.5.2-02", "3": "MQMQ-2.5.3-02"},
        "only the last 4 bytes of CorrelationID",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}CorrelationID", lambda value: bytes(16) + value[16:]),
    ),
    (
        "application-tag-low-half",
        {"1": "MQMQ-2.5.1-03", "2": "MQMQ-2.5.2-03", "3": "MQMQ-2.5.3-03"},
        "only the lower 16 bits of ApplicationTag",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}ApplicationTag", lambda value: value & 0xFFFF),
    ),
    (
        "application-tag-without-sign",
        {"1": "MQMQ-2.5.1-03", "2": "MQMQ-2.5.2-03", "3": "MQMQ-2.5.3-03"},
        "ApplicationTag without its highest bit",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}ApplicationTag", lambda value: value & 0x7FFF_FFFF),
    ),
    (
        "body-to-first-null",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "the body up to its first byte of 0",
        _make_body_changer(lambda body: body.partition(b"\0")[0]),
    ),
    (
        "body-first-64-kib",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "only the first 65,535 bytes of the body",
        _make_body_changer(lambda body: body[:0xFFFF]),
    ),
    (
        "body-without-last-byte",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "the body without its last byte if the size of the body is odd",
        _make_body_changer(lambda body: body[: len(body) & ~1]),
    ),
    (
        "label-case",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "the label in lower-case letters",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}Label", lambda text: text and text.lower()),
    ),
    (
        "label-first-124",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "only the first 124 characters of the label",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}Label", lambda text: text and text[:124]),
    ),
    (
        "label-in-ascii",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "the label with a question mark for each character outside ASCII",
        _make_field_changer(
            f"{PROPERTIES_HEADER_PREFIX}Label", lambda text: text and text.encode("ascii", "replace").decode("ascii")
        ),
    ),
    (
        "response-queue-host",
        {"1": "MQMQ-2.5.1-06", "2": "MQMQ-2.5.2-06", "3": "MQMQ-2.5.3-06"},
        "the path of a direct response queue without its host",
        _make_direct_name_changer("ResponseQueue", _remove_host_of_direct_name),
    ),
    (
        "admin-queue-case",
        {"1": "MQMQ-2.5.1-07", "2": "MQMQ-2.5.2-07", "3": "MQMQ-2.5.3-07"},
        "the direct name of the administration queue in lower-case letters",
        _make_direct_name_changer("AdminQueue", _convert_text_to_lower_case),
    ),
    (
        "admin-queue-host",
        {"1": "MQMQ-2.5.1-07", "2": "MQMQ-2.5.2-07", "3": "MQMQ-2.5.3-07"},
        "the path of a direct administration queue without its host",
        _make_direct_name_changer("AdminQueue", _remove_host_of_direct_name),
    ),
    (
        "destination-case",
        {"2": "MQMQ-2.5.2-16"},
        "the direct name of the destination in lower-case letters",
        _make_direct_name_changer("DestinationQueue", _convert_text_to_lower_case),
    ),
    (
        "destination-host",
        {"2": "MQMQ-2.5.2-16"},
        "the path of a direct destination without its host",
        _make_direct_name_changer("DestinationQueue", _remove_host_of_direct_name),
    ),
    (
        "source-first-half",
        {"2": "MQMQ-2.5.2-08", "3": "MQMQ-2.5.3-10"},
        "only the first 8 bytes of SourceQueueManager",
        _make_field_changer(
            f"{USER_HEADER_PREFIX}SourceQueueManager", lambda value: UUID(bytes_le=value.bytes_le[:8] + bytes(8))
        ),
    ),
    (
        "source-second-half",
        {"2": "MQMQ-2.5.2-08", "3": "MQMQ-2.5.3-10"},
        "only the last 8 bytes of SourceQueueManager",
        _make_field_changer(
            f"{USER_HEADER_PREFIX}SourceQueueManager", lambda value: UUID(bytes_le=bytes(8) + value.bytes_le[8:])
        ),
    ),
    (
        "priority-of-two-bits",
        {"2": "MQMQ-2.5.2-10", "3": "MQMQ-2.5.3-12"},
        "only the lower 2 bits of the priority",
        _make_field_changer("BaseHeader.Flags", lambda value: value & ~4),
    ),
    (
        "class-low-byte",
        {"2": "MQMQ-2.5.2-13", "3": "MQMQ-2.5.3-15"},
        "only the low byte of the class",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}MessageClass", lambda value: value & 0xFF),
    ),
    (
        "class-high-byte",
        {"2": "MQMQ-2.5.2-13", "3": "MQMQ-2.5.3-15"},
        "only the high byte of the class",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}MessageClass", lambda value: value & 0xFF00),
    ),
    (
        "body-type-low-byte",
        {"2": "MQMQ-2.5.2-14", "3": "MQMQ-2.5.3-16"},
        "only the low byte of the body type",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}BodyType", lambda value: value & 0xFF),
    ),
    (
        "connector-first-half",
        {"2": "MQMQ-2.5.2-15", "3": "MQMQ-2.5.3-17"},
        "only the first 8 bytes of ConnectorType",
        _make_connector_type_changer(lambda value: UUID(bytes_le=value.bytes_le[:8] + bytes(8))),
    ),
    (
        "connector-second-half",
        {"2": "MQMQ-2.5.2-15", "3": "MQMQ-2.5.3-17"},
        "only the last 8 bytes of ConnectorType",
        _make_connector_type_changer(lambda value: UUID(bytes_le=bytes(8) + value.bytes_le[8:])),
    ),
    (
        "extension-first-16",
        {"3": "MQMQ-2.5.3-08"},
        "only the first 16 bytes of the extension",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}ExtensionData", lambda value: value[:16]),
    ),
    (
        "extension-to-first-null",
        {"3": "MQMQ-2.5.3-08"},
        "the extension up to its first byte of 0",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}ExtensionData", lambda value: value.partition(b"\0")[0]),
    ),
    (
        "list-without-first",
        {"3": "MQMQ-2.5.3-09"},
        "the list of destinations without its first name",
        _make_destinations_changer(lambda names: names[1:]),
    ),
    (
        "list-sorted",
        {"3": "MQMQ-2.5.3-09"},
        "the list of destinations in the order of the names' bytes",
        _make_destinations_changer(lambda names: sorted(names, key=lambda one: one.build(0))),
    ),
    (
        "acknowledgment-bits-two",
        {"2": "MQMQ-2.5.2-12", "3": "MQMQ-2.5.3-14"},
        "only two of the four acknowledgment bits",
        _make_field_changer(f"{PROPERTIES_HEADER_PREFIX}Flags", lambda value: value & ~0xC),
    ),
)


for _name, _rule_by_kind, _says, _change in SIGNED_PROPERTY_FAULT_ROWS:
    for _version, _version_rule in _rule_by_kind.items():
        add(
            f"receiver-signature-{_version}-covers-{_name}",
            _version_rule,
            f"The receiver verifies an MSMQ {MSMQ_VERSION_BY_VERSION_KEY[_version]} signature over {_says}.",
            _verify_changed_packet(_change, SIGNATURE_TYPE_BY_VERSION[_version]),
        )
