"""Reads the fields of a packet according to the tables of the document, without the codecs of the tester and the
reference.

Spec: MS-MQMQ 2.2.18.1, 2.2.19, 2.2.20.

Names of fields are dotted (``UserHeader.Flags.DQ``). A field that cannot be read, and all fields after it, count as
missing: a wrong layout is an observation, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

ABSENT_FIELD = "missing"
GUID_SIZE = "guid"
Fields = tuple[tuple[str, int | str], ...]
"""Names of fields, each with its size in bytes, or GUID. A value of more than 4 bytes is read as hexadecimal text."""

BASE_HEADER_FIELDS: Fields = (
    ("VersionNumber", 1),
    ("Reserved", 1),
    ("Flags", 2),
    ("Signature", 4),
    ("PacketSize", 4),
    ("TimeToReachQueue", 4),
)
USER_HEADER_FIELDS: Fields = (
    ("SourceQueueManager", GUID_SIZE),
    ("QueueManagerAddress", GUID_SIZE),
    ("TimeToBeReceived", 4),
    ("SentTime", 4),
    ("MessageID", 4),
    ("Flags", 4),
)
TRANSACTION_HEADER_FIELDS: Fields = (
    ("Flags", 4),
    ("TxSequenceID.Ordinal", 4),
    ("TxSequenceID.TimeStamp", 4),
    ("TxSequenceNumber", 4),
    ("PreviousTxSequenceNumber", 4),
)
SECURITY_HEADER_FIELDS: Fields = (
    ("Flags", 2),
    ("SenderIdSize", 2),
    ("EncryptionKeySize", 2),
    ("SignatureSize", 2),
    ("SenderCertSize", 4),
    ("ProviderInfoSize", 4),
)
SECURITY_ITEM_AND_SIZE_FIELDS = (
    ("SecurityID", "SenderIdSize"),
    ("EncryptionKey", "EncryptionKeySize"),
    ("Signature", "SignatureSize"),
    ("SenderCert", "SenderCertSize"),
    ("ProviderInfo", "ProviderInfoSize"),
)
PROPERTIES_HEADER_FIELDS: Fields = (
    ("Flags", 1),
    ("LabelLength", 1),
    ("MessageClass", 2),
    ("CorrelationID", 20),
    ("BodyType", 4),
    ("ApplicationTag", 4),
    ("MessageSize", 4),
    ("AllocationBodySize", 4),
    ("PrivacyLevel", 4),
    ("HashAlgorithm", 4),
    ("EncryptionAlgorithm", 4),
    ("ExtensionSize", 4),
)
DEBUG_HEADER_FIELDS: Fields = (("Flags", 2), ("Reserved", 2))
LIST_HEADER_FIELDS: Fields = (("HeaderSize", 4), ("HeaderID", 2), ("Reserved", 2), ("ElementCount", 4))
SIGNATURE_HEADER_FIELDS: Fields = (("ID", 2), ("Reserved", 2), ("Size", 4))
SESSION_HEADER_FIELDS: Fields = (
    ("AckSequenceNumber", 2),
    ("RecoverableMsgAckSeqNumber", 2),
    ("RecoverableMsgAckFlags", 4),
    ("UserMsgSequenceNumber", 2),
    ("RecoverableMsgSeqNumber", 2),
    ("WindowSize", 2),
    ("Reserved", 2),
)
BIT_FIELDS_BY_HEADER: Mapping[str, tuple[tuple[str, int], ...]] = {
    "BaseHeader": (("PR", 3), ("IN", 1), ("SH", 1), ("DH", 1), ("X9", 1), ("X8", 1), ("TR", 1)),
    "UserHeader": (
        *(("RC", 5), ("DM", 2), ("X1", 1), ("JN", 1), ("JP", 1), ("DQ", 3), ("AQ", 3), ("RQ", 3)),
        *(("SH", 1), ("TH", 1), ("MP", 1), ("CQ", 1), ("MQ", 1), ("X2", 1), ("AH", 1), ("X3", 2), ("HH", 1)),
    ),
    "TransactionHeader": (("CG", 1), ("FA", 1), ("FM", 1), ("LM", 1), ("ID", 20)),
    "SecurityHeader": (("ST", 4), ("AU", 1), ("EB", 1), ("DE", 1), ("AI", 1), ("AS", 4)),
    "MessagePropertiesHeader": (("PA", 1), ("PR", 1), ("NA", 1), ("NR", 1)),
    "DebugHeader": (("QT", 2),),
}
"""For each header, the named parts of Flags, each  with its width in bits, beginning with the least significant bit."""
NAME_FORM_BY_QUEUE_TYPE: Mapping[int, str] = {
    2: "number",
    3: "number",
    4: "number",
    5: "public",
    6: "private",
    7: "direct",
}
"""For each value of DQ, AQ or RQ, the form of the queue name."""
NAME_FORM_AND_BOUNDARY_BY_FORMAT_TYPE: Mapping[int, tuple[str, int]] = {
    1: ("public", 1),
    2: ("private", 4),
    3: ("text", 2),
    6: ("public", 4),
}
"""For each FormatType, the form of the name, and the boundary at which the name begins."""


class _UnreadablePacketError(Exception):
    """The error that is raised when a packet ends before the next field, or when the form of the next
    field is unknown.
    """


class Bytes(Protocol):
    """A packet, from the network or from the answer to a remote read."""

    @property
    def data(self) -> bytes:
        """Return the bytes of the packet."""
        ...


@dataclass(frozen=True, slots=True)
class RemoteReadPacket:
    """The packet that the answer to a remote read contains."""

    data: bytes


class Layout:
    """The fields of a packet by name, and the order of the packet's headers."""

    MISSING = ABSENT_FIELD
    """The value of a field that is not in the packet."""

    def __init__(self, frame: Bytes) -> None:
        self.fields: dict[str, Any] = {}
        self.order: list[str] = []
        self._data = frame.data
        self._at = 0
        try:
            self._read_packet()
        except _UnreadablePacketError:
            return

    def of(self, *names: str) -> dict[str, Any]:
        """Return the named fields; a field that is not in the packet has the value MISSING."""
        return {name: self.fields.get(name, ABSENT_FIELD) for name in names}

    def _read_packet(self) -> None:
        self._read_header("BaseHeader", BASE_HEADER_FIELDS)
        if self.fields["BaseHeader.Flags.IN"]:
            return
        self._read_user_header()
        if self.fields["UserHeader.Flags.TH"]:
            self._read_header("TransactionHeader", TRANSACTION_HEADER_FIELDS)
            if self.fields["TransactionHeader.Flags.CG"]:
                self._read_field("TransactionHeader.ConnectorQMGuid", GUID_SIZE)
        if self.fields["UserHeader.Flags.SH"]:
            self._read_security_header()
        self._read_message_properties()
        if self.fields["BaseHeader.Flags.DH"]:
            self._read_header("DebugHeader", DEBUG_HEADER_FIELDS)
            if self.fields["DebugHeader.Flags.QT"] == 1:
                self._read_field("DebugHeader.QueueIdentifier", GUID_SIZE)
        if self.fields["UserHeader.Flags.HH"]:
            self._read_soap_headers()
        if self.fields["UserHeader.Flags.MQ"]:
            self._read_destination_lists()
        if self.fields["BaseHeader.Flags.SH"]:
            self._read_header("SessionHeader", SESSION_HEADER_FIELDS)
        self.fields["bytes after the last header"] = len(self._data) - self._at

    def _read_header(self, header: str, layout: Fields) -> None:
        self.order.append(header)
        for name, size in layout:
            self._read_field(f"{header}.{name}", size)
        rest = self.fields.get(f"{header}.Flags", 0)
        for name, width in BIT_FIELDS_BY_HEADER.get(header, ()):
            self.fields[f"{header}.Flags.{name}"] = rest & (1 << width) - 1
            rest >>= width

    def _read_user_header(self) -> None:
        start = self._at
        self._read_header("UserHeader", USER_HEADER_FIELDS)
        for name, kind in (("DestinationQueue", "DQ"), ("AdminQueue", "AQ"), ("ResponseQueue", "RQ")):
            written = NAME_FORM_BY_QUEUE_TYPE.get(self.fields[f"UserHeader.Flags.{kind}"])
            if written:
                self.fields[f"UserHeader.{name}"] = self._read_queue_name(written)
                self._skip_padding(4, start)
        if self.fields["UserHeader.Flags.CQ"]:
            self._read_field("UserHeader.ConnectorType", GUID_SIZE)

    def _read_security_header(self) -> None:
        start = self._at
        self._read_header("SecurityHeader", SECURITY_HEADER_FIELDS)
        for name, size in SECURITY_ITEM_AND_SIZE_FIELDS:
            self._skip_padding(4, start)
            data = self._read_bytes(self.fields[f"SecurityHeader.{size}"])
            if data:
                self.fields[f"SecurityHeader.{name}"] = data.hex()
        self._skip_padding(4, start)

    def _read_message_properties(self) -> None:
        start = self._at
        self._read_header("MessagePropertiesHeader", PROPERTIES_HEADER_FIELDS)
        for name, size in (
            ("Label", 2 * self.fields["MessagePropertiesHeader.LabelLength"]),
            ("ExtensionData", self.fields["MessagePropertiesHeader.ExtensionSize"]),
            ("MessageBody", self.fields["MessagePropertiesHeader.MessageSize"]),
        ):
            data = self._read_bytes(size)
            if data:
                whole = data.decode("utf-16-le", "replace") if name == "Label" else data.hex()
                self.fields[f"MessagePropertiesHeader.{name}"] = whole
        self._skip_padding(4, start)

    def _read_soap_headers(self) -> None:
        start = self._at
        self.order.append("SoapHeader")
        for section, reserved in (("Header", "Reserved"), ("Body", "Reserved1")):
            for name, size in ((f"{section}SectionID", 2), (reserved, 2), (f"{section}DataLength", 4)):
                self._read_field(f"SoapHeader.{name}", size)
            text = self._read_bytes(2 * self.fields[f"SoapHeader.{section}DataLength"])
            self.fields[f"SoapHeader.{section}"] = text.decode("utf-16-le", "replace")
        self._skip_padding(4, start)

    def _read_destination_lists(self) -> None:
        self.order.append("MultiQueueFormatHeader")
        for name in ("Destination", "Administration", "Response"):
            header = f"MultiQueueFormatHeader.{name}"
            start = self._at
            for field, size in LIST_HEADER_FIELDS:
                self._read_field(f"{header}.{field}", size)
            names = [
                self._read_list_element(start)
                for _ in range(min(self.fields[f"{header}.ElementCount"], len(self._data)))
            ]
            self.fields[f"{header}.FormatNameList"] = names
            self.fields[f"{header}.size"] = self._at - start
            self._skip_padding(4, start)
            self.fields[f"{header}.padded size"] = self._at - start
        header = "MultiQueueFormatHeader.Signature"
        start = self._at
        for field, size in SIGNATURE_HEADER_FIELDS:
            self._read_field(f"{header}.{field}", size)
        self.fields[f"{header}.Signature"] = self._read_bytes(self.fields[f"{header}.Size"]).hex()
        self._skip_padding(4, start)

    def _read_list_element(self, start: int) -> tuple[int, str]:
        kind = int.from_bytes(self._read_bytes(2), "little")
        if kind not in NAME_FORM_AND_BOUNDARY_BY_FORMAT_TYPE:
            raise _UnreadablePacketError
        written, boundary = NAME_FORM_AND_BOUNDARY_BY_FORMAT_TYPE[kind]
        self._skip_padding(boundary, start)
        return kind, self._read_queue_name(written)

    def _read_queue_name(self, written: str) -> str:
        if written == "number":
            return f"{int.from_bytes(self._read_bytes(4), 'little'):08x}"
        if written == "public":
            return str(UUID(bytes_le=self._read_bytes(16)))
        if written == "private":
            return f"{UUID(bytes_le=self._read_bytes(16))}\\{int.from_bytes(self._read_bytes(4), 'little'):08x}"
        if written == "direct":
            return (
                self._read_bytes(int.from_bytes(self._read_bytes(2), "little")).decode("utf-16-le", "replace").lower()
            )
        return self._read_text()

    def _read_text(self) -> str:
        end = self._at
        while self._data[end : end + 2] not in (b"\0\0", b""):
            end += 2
        return self._read_bytes(end + 2 - self._at).decode("utf-16-le", "replace").lower()

    def _read_field(self, name: str, size: int | str) -> None:
        data = self._read_bytes(16 if isinstance(size, str) else size)
        value: Any = int.from_bytes(data, "little") if len(data) <= 4 else data.hex()
        self.fields[name] = str(UUID(bytes_le=data)) if size == GUID_SIZE else value

    def _read_bytes(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise _UnreadablePacketError
        self._at += size
        return self._data[self._at - size : self._at]

    def _skip_padding(self, boundary: int, start: int) -> None:
        self._at += -(self._at - start) % boundary
