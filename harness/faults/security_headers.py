"""Faults of SecurityHeader and of lists of queues as they are sent. Spec: MS-MQMQ 2.2.20.6, 2.2.18.1.4, 2.2.20.2, 3."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from harness.faults.primitives import wrong_bytes, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import SecurityHeader, UserMessagePacket

MESSAGE = UserMessagePacket
HEADER = "MQMQ-2.2.20.6-"
DATA = "SecurityHeader.SecurityData."
LIST = struct.pack("<HHI", 0x0064, 0, 1)
"""How the list of one destination goes on after its HeaderSize; then FormatType and the name."""
SID = bytes((1, 5, 0, 0, 0, 0, 0, 5))
"""How the SID of a user of a domain begins, the first item of SecurityData."""
SIZES_BEFORE = 14
SIGNATURE = struct.pack("<HH", 0x015E, 0)


def _secured(packet: Any) -> bool:
    return packet.SecurityHeader is not None


def _has(item: str) -> Callable[[Any], bool]:
    return lambda packet: _secured(packet) and bool(getattr(packet.SecurityHeader.SecurityData, item))


def _listed(packet: Any) -> bool:
    return packet.MultiQueueFormatHeader is not None


def _flags(**bits: int) -> Install:
    value = SecurityHeader.flags(**bits)
    mask = SecurityHeader.flags(**{name: vars(SecurityHeader)[name].mask for name in bits})
    return wrong_fields(MESSAGE, {"SecurityHeader.Flags": lambda flags: flags & ~mask | value}, _secured)


def _item(name: str, change: Callable[[bytes], bytes]) -> Install:
    return wrong_fields(MESSAGE, {f"{DATA}{name}": change, f"{DATA}Padding": None}, _has(name))


def _long_sender(data: bytes) -> bytes:
    at = data.find(SID) - SIZES_BEFORE
    return data if at < 0 else data[:at] + b"\xff\xff" + data[at + 2 :]


def _nothing() -> Install:
    names = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")
    changes: dict[str, Any] = {f"{DATA}{name}": b"" for name in names} | {f"{DATA}Padding": None}
    return wrong_fields(MESSAGE, changes, _secured)


def _in_list(change: Callable[[bytearray, int], None]) -> Install:
    """Change bytes of the list of destinations; ``change`` gets the packet and where the list goes on."""

    def changed(data: bytes) -> bytes:
        at = data.find(LIST)
        buffer = bytearray(data)
        if at >= 0:
            change(buffer, at)
        return bytes(buffer)

    return wrong_bytes(MESSAGE, changed, _listed)


def _put(offset: int, fmt: str, value: int) -> Callable[[bytearray, int], None]:
    def change(data: bytearray, at: int) -> None:
        struct.pack_into(fmt, data, at + offset, value)

    return change


def _no_terminator(data: bytearray, at: int) -> None:
    data[at + 10 :] = b"\1" * (len(data) - at - 10)


def _no_direct_name(data: bytearray, at: int) -> None:
    data[at + 10 : at + 12] = "\\".encode("utf-16-le")


def _signature(offset: int, fmt: str, value: int) -> Install:
    def changed(data: bytes) -> bytes:
        at = data.find(SIGNATURE)
        buffer = bytearray(data)
        struct.pack_into(fmt, buffer, at + offset, value)
        return bytes(buffer)

    return wrong_bytes(MESSAGE, changed, _listed)


for _name, _rules, _says, _install in (
    ("sender-type-3", "01", "ST is 3", _flags(ST=3)),
    ("sender-is-no-sid", "03 23", "SecurityID is no SID", _item("SecurityID", lambda sid: b"\7" + sid[1:])),
    ("authenticated-bit", "05", "AU is set", _flags(AU=1)),
    ("signature-type-told", "09", "AS is set", _flags(AS=3)),
    ("header-without-data", "08 19 20", "SecurityData is empty", _nothing()),
    ("sender-size", "14", "SenderIdSize is 4 bytes too many", _item("SecurityID", lambda one: one + bytes(4))),
    ("key-size", "15", "EncryptionKeySize is 4 bytes too many", _item("EncryptionKey", lambda one: one + bytes(4))),
    ("signature-size", "16", "SignatureSize is 4 bytes too many", _item("Signature", lambda one: one + bytes(4))),
    ("certificate-size", "17", "SenderCertSize is 4 bytes too many", _item("SenderCert", lambda one: one + bytes(4))),
    ("provider-size", "18", "ProviderInfoSize is 4 bytes too many", _item("ProviderInfo", lambda one: one + b"\1" * 4)),
    ("provider-by-default", "37", "ProviderInfo is there with DE set", _flags(DE=1)),
):
    add(f"security-header-{_name}", [f"{HEADER}{rule}" for rule in _rules.split()], f"{_says}.", _install)

add(
    "security-header-unaligned",
    f"{HEADER}21",
    "The items of SecurityData reach beyond the packet.",
    wrong_bytes(MESSAGE, _long_sender, _has("SecurityID")),
)
add(
    "signature-hash-sha1",
    "MQMQ-2.2.19.3-23",
    "HashAlgorithm of a signed message is SHA-1.",
    wrong_fields(MESSAGE, {"MessagePropertiesHeader.HashAlgorithm": 0x8004}, _has("Signature")),
)
add(
    "algorithm-of-another-level",
    "MQMQ-2.2.19.3-26",
    "EncryptionAlgorithm is DES.",
    wrong_fields(MESSAGE, {"MessagePropertiesHeader.EncryptionAlgorithm": 0x6601}, _has("EncryptionKey")),
)
add(
    "session-key-of-another-algorithm",
    "MQQB-2.4.2-01",
    "sessionKeyAlgorithm is DES.",
    _item("EncryptionKey", lambda blob: blob[:4] + struct.pack("<I", 0x6601) + blob[8:]),
)
add(
    "list-format-type-9",
    ("MQMQ-2.2.18.1.4-01", "MQMQ-2.2.18.1.4-02", "MQMQ-2.2.20.2-05"),
    "FormatType of a destination is 9.",
    _in_list(_put(8, "<H", 9)),
)
add(
    "list-name-without-end",
    "MQMQ-2.2.18.1.4.1-01",
    "The text of a destination has no terminator.",
    _in_list(_no_terminator),
)
add("list-name-not-direct", "MQMQ-2.2.18.1.4.1-02", "A destination is no direct name.", _in_list(_no_direct_name))
add("list-size", "MQMQ-2.2.20.2-01", "HeaderSize is less than its own header.", _in_list(_put(-4, "<I", 4)))
add(
    "list-count",
    ("MQMQ-2.2.20.2-04", "MQMQ-2.2.20.2-06"),
    "ElementCount is much too large.",
    _in_list(_put(4, "<I", 0xFFFFFF)),
)
add("list-signature-id", "MQMQ-2.2.20.3-01", "ID of the signature is another.", _signature(0, "<H", 0x015F))
add(
    "list-signature-size",
    ("MQMQ-2.2.20.3-03", "MQMQ-2.2.20.3-04"),
    "Size of the signature is larger than the packet.",
    _signature(4, "<I", 0xFFFFFF),
)
