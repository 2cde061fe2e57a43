"""Faults of MS-MQMQ 2.2.20.6 SecurityHeader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from uuid import UUID

from harness.faults.fields import add_bits_set, add_refusals, bit_set, field_is
from harness.faults.parts import fault
from harness.faults.primitives import always, packets, wrong_fields
from harness.faults.public_keys import published_blobs
from harness.faults.registry import Install, add
from harness.faults.sent_messages import carries, correct_packet_size, secured_with
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.codec.cursor import Cursor
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue

MESSAGE = UserMessagePacket
DATA = "SecurityHeader.SecurityData"
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
"""A queue manager that is nowhere."""
NOBODY, QUEUE_MANAGER = 0, 2
"""Values of ST: who signed."""
FIXED_SIZE = len(SecurityHeader().build())
ITEMS = ("SecurityID", "EncryptionKey", "Signature", "SenderCert", "ProviderInfo")


def _item(name: str, change: Callable[[bytes], bytes]) -> Install:
    return wrong_fields(MESSAGE, {f"{DATA}.{name}": change, f"{DATA}.Padding": None}, secured_with(name))


def _longer(name: str, more: bytes = bytes(4)) -> Install:
    """Let an item, and its size, have bytes behind it that do not belong to it."""
    return _item(name, lambda item: item + more)


def _other_sender(kind: int) -> Install:
    """Give another SecurityID to signed messages whose sender is of a kind."""

    def meant(packet: UserMessagePacket) -> bool:
        security = packet.SecurityHeader
        return security is not None and bool(security.SignatureSize) and kind == security.ST

    return wrong_fields(MESSAGE, {f"{DATA}.SecurityID": OTHER.bytes_le, f"{DATA}.Padding": None}, meant)


def _names_provider(packet: UserMessagePacket) -> bool:
    security = packet.SecurityHeader
    return security is not None and bool(security.ProviderInfoSize and security.SignatureSize)


def _unpublished(qm: QueueManager) -> None:
    machine = qm.enterprise.state.LocalQueueManager
    qm.enterprise.state.LocalQueueManager = replace(machine, PublicEncryptionKeyList=b"")


for _name, _rules, _says, _install in (
    ("security-header-sender-type-3", ("MQMQ-2.2.20.6-01",), "ST is 3.", field_is(MESSAGE, "SecurityHeader.ST", 3)),
    (
        "handed-nobody-signs-as-somebody",
        (
            "MQMQ-2.2.20.6-02",
            "MQDMPR-3.1.1.12-D54",
        ),
        "A message of nobody has a SecurityID.",
        _other_sender(NOBODY),
    ),
    (
        "security-header-sender-is-no-sid",
        ("MQMQ-2.2.20.6-03", "MQMQ-2.2.20.6-23", "MQDMPR-3.1.1.12-56", "MQDMPR-3.1.7.1.32-D17", "MQDMPR-3.1.1.12-D62"),
        "SecurityID is no SID.",
        _item("SecurityID", lambda sid: b"\7" + sid[1:]),
    ),
    (
        "handed-queue-manager-signs-as-another",
        (
            "MQMQ-2.2.20.6-04",
            "MQMQ-2.2.20.6-22",
            "MQMQ-2.2.20.6-24",
            "MQDMPR-3.1.1.12-56",
            "MQDMPR-3.1.7.1.32-D17",
            "MQDMPR-3.1.1.12-D63",
        ),
        "A queue manager's message has another's GUID.",
        _other_sender(QUEUE_MANAGER),
    ),
    (
        "security-header-authenticated-bit",
        ("MQMQ-2.2.20.6-05",),
        "AU is set.",
        bit_set(MESSAGE, "SecurityHeader.AU"),
    ),
    (
        "handed-provider-unnamed",
        ("MQMQ-2.2.20.6-07",),
        "The provider has no name.",
        wrong_fields(
            MESSAGE,
            {f"{DATA}.ProviderInfo": lambda info: info[:4] + bytes(2), f"{DATA}.Padding": None},
            _names_provider,
        ),
    ),
    (
        "security-header-header-without-data",
        ("MQMQ-2.2.20.6-08", "MQMQ-2.2.20.6-19", "MQMQ-2.2.20.6-20"),
        "SecurityData is empty.",
        wrong_fields(
            MESSAGE,
            {**{f"{DATA}.{item}": b"" for item in ITEMS}, f"{DATA}.Padding": None},
            carries("SecurityHeader"),
        ),
    ),
    (
        "security-header-signature-type-told",
        ("MQMQ-2.2.20.6-09",),
        "AS is set.",
        field_is(MESSAGE, "SecurityHeader.AS", 3),
    ),
    (
        "security-header-sender-size",
        ("MQMQ-2.2.20.6-14",),
        "SenderIdSize is 4 bytes too many.",
        _longer("SecurityID"),
    ),
    (
        "security-header-key-size",
        ("MQMQ-2.2.20.6-15",),
        "EncryptionKeySize is 4 bytes too many.",
        _longer("EncryptionKey"),
    ),
    (
        "security-header-signature-size",
        ("MQMQ-2.2.20.6-16",),
        "SignatureSize is 4 bytes too many.",
        _longer("Signature"),
    ),
    (
        "security-header-certificate-size",
        ("MQMQ-2.2.20.6-17",),
        "SenderCertSize is 4 bytes too many.",
        _longer("SenderCert"),
    ),
    (
        "security-header-provider-size",
        ("MQMQ-2.2.20.6-18",),
        "ProviderInfoSize is 4 bytes too many.",
        _longer("ProviderInfo", b"\1" * 4),
    ),
    (
        "handed-keys-unpublished",
        ("MQMQ-2.2.20.6-36",),
        "The directory has no keys of the queue manager.",
        always(_unpublished),
    ),
    (
        "security-header-provider-by-default",
        ("MQMQ-2.2.20.6-37",),
        "ProviderInfo is there with DE set.",
        bit_set(MESSAGE, "SecurityHeader.DE"),
    ),
):
    add(_name, _rules, _says, _install)


@fault("security-items-of-another", breaks=("MQMQ-2.2.20.6-D02", "MQMQ-2.2.20.6-D03"))
class ItemsOfAnother(Positions):
    """A message that arrived has its certificate as its sender."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        security = message.security
        if security is not None and security.SenderCertificate:
            message = replace(message, security=replace(security, SenderIdentifier=security.SenderCertificate))
        return super().insert_message(queue, message)


add_refusals(
    MESSAGE,
    ("message-security-x12-refused", "MQMQ-2.2.20.6-10", "SecurityHeader.X12"),
    ("message-security-x13-refused", "MQMQ-2.2.20.6-11", "SecurityHeader.X13"),
    ("message-security-x14-refused", "MQMQ-2.2.20.6-12", "SecurityHeader.X14"),
    ("message-security-x15-refused", "MQMQ-2.2.20.6-13", "SecurityHeader.X15"),
)


def _in_header(change: Callable[[bytes], bytes]) -> Install:
    """Change the bytes of a SecurityHeader."""

    def changed(packet: UserMessagePacket) -> bytes:
        header = b"" if packet.SecurityHeader is None else packet.SecurityHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header)))

    return packets(MESSAGE, changed, carries("SecurityHeader"))


def _joined(header: bytes, order: Iterable[str] = ITEMS, empty: bytes = b"", boundary: int = 4) -> bytes:
    """Return a SecurityHeader whose items are put together in another way."""
    security = SecurityHeader.read(Cursor(header))
    items = [getattr(security.SecurityData, name) or empty for name in order]
    data = b"".join(item + bytes(-len(item) % boundary) for item in items)
    return header[:FIXED_SIZE] + data + bytes(-len(data) % 4)


for _name, _rules, _says, _install in (
    (
        "security-header-sizes-swapped",
        (
            "MQMQ-2.2.20.6-D01",
            "MQDMPR-3.1.7.1.32-D03",
        ),
        "SignatureSize stands before EncryptionKeySize.",
        _in_header(lambda header: header[:4] + header[6:8] + header[4:6] + header[8:]),
    ),
    (
        "security-data-certificate-first",
        ("MQMQ-2.2.20.6-D02",),
        "SenderCert stands before all other items.",
        _in_header(partial(_joined, order=("SenderCert", "SecurityID", "EncryptionKey", "Signature", "ProviderInfo"))),
    ),
    (
        "security-data-empty-items",
        ("MQMQ-2.2.20.6-D03", "MQMQ-2.2.20.6-02", "MQDMPR-3.1.1.12-D54"),
        "Items of size 0 take 4 bytes.",
        _in_header(partial(_joined, empty=bytes(4))),
    ),
    (
        "security-data-without-gaps",
        ("MQMQ-2.2.20.6-21",),
        "Items follow each other without padding.",
        _in_header(partial(_joined, boundary=1)),
    ),
    (
        "security-header-large-certificate",
        ("MQMQ-2.2.20.6-D04",),
        "SenderCertSize is 0x10000 and more.",
        _item("SenderCert", lambda certificate: certificate + bytes(0x1_0000)),
    ),
    (
        "security-data-provider-name-first",
        ("MQMQ-2.2.20.6-D05",),
        "ProviderName stands before ProviderType.",
        _item("ProviderInfo", lambda info: info[4:] + info[:4]),
    ),
):
    add(_name, _rules, _says, _install)

add_bits_set(
    MESSAGE,
    ("security-header-x12-sent", "MQMQ-2.2.20.6-10", "SecurityHeader.X12"),
    ("security-header-x13-sent", "MQMQ-2.2.20.6-11", "SecurityHeader.X13"),
    ("security-header-x14-sent", "MQMQ-2.2.20.6-12", "SecurityHeader.X14"),
    ("security-header-x15-sent", "MQMQ-2.2.20.6-13", "SecurityHeader.X15"),
)


add(
    "published-key-padded",
    ("MQQB-3.1.7.1.5-10", "MQMQ-2.2.20.6-34", "MQMQ-2.2.20.6-35", "MQDMPR-3.1.3-D07"),
    "The modulus of a published key is followed by a byte of ones.",
    published_blobs(lambda blob: blob + b"\xff"),
)
