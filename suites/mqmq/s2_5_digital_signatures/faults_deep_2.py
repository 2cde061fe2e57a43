"""Faults of MS-MQMQ 2.5: signatures that cover some values of a property and not others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType

ALL_KINDS = {"1": SignatureType.SIG10, "2": SignatureType.SIG20, "3": SignatureType.SIG30}
DOCUMENT_NAMES = {"1": "1.0", "2": "2.0", "3": "3.0"}
PROPERTIES = "MessagePropertiesHeader."
USER = "UserHeader."


def _cover_changed(change: Callable[[UserMessagePacket], UserMessagePacket], kind: SignatureType) -> Install:
    """Let the receiver verify a signature of one kind with the properties of a changed packet."""

    class CoversChanged(SecurityOnReceipt):
        def signed_properties(self, packet: UserMessagePacket, of_kind: SignatureType) -> bytes:
            return super().signed_properties(change(packet) if of_kind is kind else packet, of_kind)

    return replace_part(CoversChanged)


def _set(path: str, change: Callable[[Any], Any]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    """Return a function that changes one field of a message, if the message contains the header of the field."""

    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        changed: UserMessagePacket = set_fields(packet, {path: change})
        return changed

    return change_packet


def _set_body(change: Callable[[bytes], bytes]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    return lambda packet: set_fields(packet, {f"{PROPERTIES}MessageBody": change, f"{PROPERTIES}Padding": None})


def _set_direct(field: str, change: Callable[[str], str]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    """Return a function that changes the text of a direct name in a field of the UserHeader."""

    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        name = getattr(packet.UserHeader, field)
        if not isinstance(name, DirectQueueFormatName):
            return packet
        text = change(name.DirectFormatName)
        changed: UserMessagePacket = set_fields(packet, {f"{USER}{field}": replace(name, DirectFormatName=text)})
        return changed

    return change_packet


def _ignore_case(text: str) -> str:
    return text.lower()


def _without_host(text: str) -> str:
    return text.partition("\\")[2] or text


def _set_connector(change: Callable[[UUID], UUID]) -> Callable[[UserMessagePacket], UserMessagePacket]:
    def change_packet(packet: UserMessagePacket) -> UserMessagePacket:
        connector = packet.UserHeader.ConnectorType
        if connector is None:
            return packet
        return replace(packet, UserHeader=replace(packet.UserHeader, ConnectorType=change(connector)))

    return change_packet


def _cover_names(kept: Callable[[list[Any]], Any]) -> Callable[[UserMessagePacket], UserMessagePacket]:
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


Rows = tuple[tuple[str, dict[str, str], str, Callable[[UserMessagePacket], UserMessagePacket]], ...]
ROWS: Rows = (
    (
        "correlation-guid",
        {"1": "MQMQ-2.5.1-02", "2": "MQMQ-2.5.2-02", "3": "MQMQ-2.5.3-02"},
        "only the GUID of CorrelationID",
        _set(f"{PROPERTIES}CorrelationID", lambda value: value[:16] + bytes(4)),
    ),
    (
        "correlation-number",
        {"1": "MQMQ-2.5.1-02", "2": "MQMQ-2.5.2-02", "3": "MQMQ-2.5.3-02"},
        "only the last 4 bytes of CorrelationID",
        _set(f"{PROPERTIES}CorrelationID", lambda value: bytes(16) + value[16:]),
    ),
    (
        "application-tag-low-half",
        {"1": "MQMQ-2.5.1-03", "2": "MQMQ-2.5.2-03", "3": "MQMQ-2.5.3-03"},
        "only the lower 16 bits of ApplicationTag",
        _set(f"{PROPERTIES}ApplicationTag", lambda value: value & 0xFFFF),
    ),
    (
        "application-tag-without-sign",
        {"1": "MQMQ-2.5.1-03", "2": "MQMQ-2.5.2-03", "3": "MQMQ-2.5.3-03"},
        "ApplicationTag without its highest bit",
        _set(f"{PROPERTIES}ApplicationTag", lambda value: value & 0x7FFF_FFFF),
    ),
    (
        "body-to-first-null",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "the body up to its first byte of 0",
        _set_body(lambda body: body.partition(b"\0")[0]),
    ),
    (
        "body-first-64-kib",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "only the first 65,535 bytes of the body",
        _set_body(lambda body: body[:0xFFFF]),
    ),
    (
        "body-without-last-byte",
        {"1": "MQMQ-2.5.1-04", "2": "MQMQ-2.5.2-04", "3": "MQMQ-2.5.3-04"},
        "the body without its last byte if the size of the body is odd",
        _set_body(lambda body: body[: len(body) & ~1]),
    ),
    (
        "label-case",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "the label in lower-case letters",
        _set(f"{PROPERTIES}Label", lambda text: text and text.lower()),
    ),
    (
        "label-first-124",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "only the first 124 characters of the label",
        _set(f"{PROPERTIES}Label", lambda text: text and text[:124]),
    ),
    (
        "label-in-ascii",
        {"1": "MQMQ-2.5.1-05", "2": "MQMQ-2.5.2-05", "3": "MQMQ-2.5.3-05"},
        "the label with a question mark for each character outside ASCII",
        _set(f"{PROPERTIES}Label", lambda text: text and text.encode("ascii", "replace").decode("ascii")),
    ),
    (
        "response-queue-host",
        {"1": "MQMQ-2.5.1-06", "2": "MQMQ-2.5.2-06", "3": "MQMQ-2.5.3-06"},
        "the path of a direct response queue without its host",
        _set_direct("ResponseQueue", _without_host),
    ),
    (
        "admin-queue-case",
        {"1": "MQMQ-2.5.1-07", "2": "MQMQ-2.5.2-07", "3": "MQMQ-2.5.3-07"},
        "the direct name of the administration queue in lower-case letters",
        _set_direct("AdminQueue", _ignore_case),
    ),
    (
        "admin-queue-host",
        {"1": "MQMQ-2.5.1-07", "2": "MQMQ-2.5.2-07", "3": "MQMQ-2.5.3-07"},
        "the path of a direct administration queue without its host",
        _set_direct("AdminQueue", _without_host),
    ),
    (
        "destination-case",
        {"2": "MQMQ-2.5.2-16"},
        "the direct name of the destination in lower-case letters",
        _set_direct("DestinationQueue", _ignore_case),
    ),
    (
        "destination-host",
        {"2": "MQMQ-2.5.2-16"},
        "the path of a direct destination without its host",
        _set_direct("DestinationQueue", _without_host),
    ),
    (
        "source-first-half",
        {"2": "MQMQ-2.5.2-08", "3": "MQMQ-2.5.3-10"},
        "only the first 8 bytes of SourceQueueManager",
        _set(f"{USER}SourceQueueManager", lambda value: UUID(bytes_le=value.bytes_le[:8] + bytes(8))),
    ),
    (
        "source-second-half",
        {"2": "MQMQ-2.5.2-08", "3": "MQMQ-2.5.3-10"},
        "only the last 8 bytes of SourceQueueManager",
        _set(f"{USER}SourceQueueManager", lambda value: UUID(bytes_le=bytes(8) + value.bytes_le[8:])),
    ),
    (
        "priority-of-two-bits",
        {"2": "MQMQ-2.5.2-10", "3": "MQMQ-2.5.3-12"},
        "only the lower 2 bits of the priority",
        _set("BaseHeader.Flags", lambda value: value & ~4),
    ),
    (
        "class-low-byte",
        {"2": "MQMQ-2.5.2-13", "3": "MQMQ-2.5.3-15"},
        "only the low byte of the class",
        _set(f"{PROPERTIES}MessageClass", lambda value: value & 0xFF),
    ),
    (
        "class-high-byte",
        {"2": "MQMQ-2.5.2-13", "3": "MQMQ-2.5.3-15"},
        "only the high byte of the class",
        _set(f"{PROPERTIES}MessageClass", lambda value: value & 0xFF00),
    ),
    (
        "body-type-low-byte",
        {"2": "MQMQ-2.5.2-14", "3": "MQMQ-2.5.3-16"},
        "only the low byte of the body type",
        _set(f"{PROPERTIES}BodyType", lambda value: value & 0xFF),
    ),
    (
        "connector-first-half",
        {"2": "MQMQ-2.5.2-15", "3": "MQMQ-2.5.3-17"},
        "only the first 8 bytes of ConnectorType",
        _set_connector(lambda value: UUID(bytes_le=value.bytes_le[:8] + bytes(8))),
    ),
    (
        "connector-second-half",
        {"2": "MQMQ-2.5.2-15", "3": "MQMQ-2.5.3-17"},
        "only the last 8 bytes of ConnectorType",
        _set_connector(lambda value: UUID(bytes_le=bytes(8) + value.bytes_le[8:])),
    ),
    (
        "extension-first-16",
        {"3": "MQMQ-2.5.3-08"},
        "only the first 16 bytes of the extension",
        _set(f"{PROPERTIES}ExtensionData", lambda value: value[:16]),
    ),
    (
        "extension-to-first-null",
        {"3": "MQMQ-2.5.3-08"},
        "the extension up to its first byte of 0",
        _set(f"{PROPERTIES}ExtensionData", lambda value: value.partition(b"\0")[0]),
    ),
    (
        "list-without-first",
        {"3": "MQMQ-2.5.3-09"},
        "the list of destinations without its first name",
        _cover_names(lambda names: names[1:]),
    ),
    (
        "list-sorted",
        {"3": "MQMQ-2.5.3-09"},
        "the list of destinations in the order of the names' bytes",
        _cover_names(lambda names: sorted(names, key=lambda one: one.build(0))),
    ),
    (
        "acknowledgment-bits-two",
        {"2": "MQMQ-2.5.2-12", "3": "MQMQ-2.5.3-14"},
        "only two of the four acknowledgment bits",
        _set(f"{PROPERTIES}Flags", lambda value: value & ~0xC),
    ),
)
for _name, _rules, _says, _change in ROWS:
    for _kind, _rule in _rules.items():
        add(
            f"receiver-signature-{_kind}-covers-{_name}",
            _rule,
            f"The receiver verifies an MSMQ {DOCUMENT_NAMES[_kind]} signature over {_says}.",
            _cover_changed(_change, ALL_KINDS[_kind]),
        )
