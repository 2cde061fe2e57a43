"""Faults of MS-MQMQ 2.5 that only special cases reveal: signatures that cover only a part of a property."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import SignatureType


def _cover_part(change: Callable[[Any], Any], kinds: tuple[SignatureType, ...] = tuple(SignatureType)) -> Install:
    """Sign and verify the properties of a changed packet."""

    class CoversPart(SecurityOnReceipt):
        def signed_properties(self, packet: UserMessagePacket, kind: SignatureType) -> bytes:
            return super().signed_properties(change(packet) if kind in kinds else packet, kind)

    return replace_part(CoversPart)


def _change_properties(**changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that changes properties of a message."""

    def change(packet: Any) -> Any:
        header = packet.MessagePropertiesHeader
        new = {name: one(getattr(header, name)) for name, one in changes.items()}
        return replace(packet, MessagePropertiesHeader=replace(header, **new, Padding=None))

    return change


def _ignore_case(packet: Any) -> Any:
    name = packet.UserHeader.ResponseQueue
    if not isinstance(name, DirectQueueFormatName):
        return packet
    name = replace(name, DirectFormatName=name.DirectFormatName.lower())
    return replace(packet, UserHeader=replace(packet.UserHeader, ResponseQueue=name))


def _cover_two_names(packet: Any) -> Any:
    lists = packet.MultiQueueFormatHeader
    if lists is None:
        return packet
    listed = replace(lists.Destination, FormatNameList=lists.Destination.FormatNameList[:2])
    return replace(packet, MultiQueueFormatHeader=replace(lists, Destination=listed))


for _name, _rules, _says, _change in (
    (
        "queue-manager-signature-covers-first-4-kib-of-body",
        ("MQMQ-2.5.1-04", "MQMQ-2.5.2-04", "MQMQ-2.5.3-04"),
        "A signature covers only the first 4,096 bytes of the body.",
        _change_properties(MessageBody=lambda body: body[:4096]),
    ),
    (
        "queue-manager-signature-covers-first-124-characters-of-label",
        ("MQMQ-2.5.1-05", "MQMQ-2.5.2-05", "MQMQ-2.5.3-05"),
        "A signature covers only the first 124 characters of the label.",
        _change_properties(Label=lambda label: label and label[:124]),
    ),
    (
        "queue-manager-signature-covers-lower-half-of-application-tag",
        ("MQMQ-2.5.1-03", "MQMQ-2.5.2-03", "MQMQ-2.5.3-03"),
        "A signature covers only the lower 16 bits of ApplicationTag.",
        _change_properties(ApplicationTag=lambda tag: tag & 0xFFFF),
    ),
    (
        "queue-manager-signature-covers-first-16-bytes-of-correlation-id",
        ("MQMQ-2.5.1-02", "MQMQ-2.5.2-02", "MQMQ-2.5.3-02"),
        "A signature covers zeros instead of the last four bytes of CorrelationID.",
        _change_properties(CorrelationID=lambda old: old[:16] + bytes(4)),
    ),
    (
        "queue-manager-signature-covers-first-255-bytes-of-extension",
        ("MQMQ-2.5.3-08",),
        "An MSMQ 3.0 signature covers only the first 255 bytes of the extension.",
        _change_properties(ExtensionData=lambda old: old[:255]),
    ),
    (
        "queue-manager-signature-covers-lower-case-of-response-queue",
        ("MQMQ-2.5.1-06", "MQMQ-2.5.2-06", "MQMQ-2.5.3-06"),
        "A signature covers the direct name of the response queue in lower case.",
        _ignore_case,
    ),
    (
        "queue-manager-signature-covers-first-two-names-of-list",
        ("MQMQ-2.5.3-09",),
        "An MSMQ 3.0 signature covers only the first two names of the list of destinations.",
        _cover_two_names,
    ),
    (
        "queue-manager-signature-covers-lower-byte-of-class",
        ("MQMQ-2.5.2-13", "MQMQ-2.5.3-15"),
        "A signature covers only the lower byte of MessageClass.",
        _change_properties(MessageClass=lambda old: old & 0xFF),
    ),
):
    add(_name, _rules, _says, _cover_part(_change))
