"""Parses and builds the MultiQueueFormatHeader, which contains all destinations of a message. Spec: MS-MQMQ
2.2.20.1, 2.2.20.2, 2.2.20.3, 2.2.18.1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError, MisuseError
from reference_qm.codec.layout import U16, U32, Layout
from reference_qm.codec.padding import build_end_padding, build_padding, omit_zero_padding, read_end_padding
from reference_qm.codec.queue_formats import (
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PublicQueueFormatName,
)
from reference_qm.codec.record import Record

_ADDRESS_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.2"
_SIGNATURE_HEADER_SPEC_SECTION = "MS-MQMQ 2.2.20.3"
_FORMAT_NAME_ELEMENT_SPEC_SECTION = "MS-MQMQ 2.2.18.1.4"
_MIN_MQF_ELEMENT_BYTES = 4  # FormatType and the terminating null of an empty direct name
_FORMAT_TYPE_LAYOUT = Layout("MQFFormatNameElement", _FORMAT_NAME_ELEMENT_SPEC_SECTION, FormatType=U16)
_ADDRESS_HEADER_LAYOUT = Layout(
    "MQFAddressHeader", _ADDRESS_HEADER_SPEC_SECTION, HeaderSize=U32, HeaderID=U16, Reserved=U16, ElementCount=U32
)
_SIGNATURE_HEADER_LAYOUT = Layout("MQFSignatureHeader", _SIGNATURE_HEADER_SPEC_SECTION, ID=U16, Reserved=U16, Size=U32)

MQFElementFormatName = (
    PublicQueueFormatName | PrivateQueueFormatName | MQFDirectQueueFormatName | MQFDistributionQueueFormatName
)
_ELEMENT_TYPE_BY_NUMBER: Mapping[int, type[MQFElementFormatName]] = {
    0x0001: PublicQueueFormatName,
    0x0002: PrivateQueueFormatName,
    0x0003: MQFDirectQueueFormatName,
    0x0006: MQFDistributionQueueFormatName,
}
_NUMBER_BY_ELEMENT_TYPE: Mapping[type[MQFElementFormatName], int] = {
    name: number for number, name in _ELEMENT_TYPE_BY_NUMBER.items()
}
_PADDING_BOUNDARY_BY_ELEMENT_TYPE: Mapping[type[MQFElementFormatName], int] = {
    PublicQueueFormatName: 1,  # only 2.2.18.1.7.1 prints no alignment of its start
    PrivateQueueFormatName: 4,
    MQFDirectQueueFormatName: 2,
    MQFDistributionQueueFormatName: 4,
}


@dataclass(frozen=True, slots=True)
class MQFFormatNameElement(Record):
    """One queue in the list of an MQFAddressHeader.

    Spec: MS-MQMQ 2.2.18.1.4. FormatType u16 LE (computed); FormatName: the structure for that type; Padding: the
    bytes between FormatType and FormatName, stored as in the module ``padding``.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.4"

    FormatName: MQFElementFormatName
    Padding: bytes | None = None

    @property
    def FormatType(self) -> int:  # noqa: N802 - the printed name
        """The type of the format name: 0x0001 public, 0x0002 private, 0x0003 direct, 0x0006 distribution list."""
        return _NUMBER_BY_ELEMENT_TYPE[type(self.FormatName)]

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        (number,) = cursor.unpack(_FORMAT_TYPE_LAYOUT)
        if number not in _ELEMENT_TYPE_BY_NUMBER:
            raise FormatError(
                "MQFFormatNameElement.FormatType",
                start,
                _FORMAT_NAME_ELEMENT_SPEC_SECTION,
                f"0x{number:04X} is not a FormatType with a known layout",
            )
        name = _ELEMENT_TYPE_BY_NUMBER[number]
        padding = cursor.read_nonzero_padding(
            _PADDING_BOUNDARY_BY_ELEMENT_TYPE[name], "MQFFormatNameElement.Padding", _FORMAT_NAME_ELEMENT_SPEC_SECTION
        )
        return cls(name.read(cursor), padding)

    def build(self, offset: int = 0) -> bytes:
        """Return the bytes of the element. The size of its padding depends on its ``offset`` in the header."""
        head = _FORMAT_TYPE_LAYOUT.pack(self.FormatType)
        gap = -(offset + len(head)) % _PADDING_BOUNDARY_BY_ELEMENT_TYPE[type(self.FormatName)]
        return head + build_padding(gap, self.Padding, "MQFFormatNameElement") + self.FormatName.build()


@dataclass(frozen=True, slots=True)
class MQFAddressHeader(Record):
    """A list of queues, padded to a multiple of 4 bytes.

    Spec: MS-MQMQ 2.2.20.2. 12 bytes, then the list. HeaderSize u32 LE bytes (None means that ``build`` computes the
    size with the padding; a size without the padding is also accepted); HeaderID and Reserved u16 LE; ElementCount
    u32 LE (computed); Padding: stored as in the module ``padding``.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.2"

    HeaderID: int = 0
    FormatNameList: tuple[MQFFormatNameElement, ...] = ()
    HeaderSize: int | None = None
    Reserved: int = 0
    Padding: bytes | None = None

    @property
    def ElementCount(self) -> int:  # noqa: N802 - the printed name
        """The number of elements in FormatNameList."""
        return len(self.FormatNameList)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        size, header_id, reserved, count = cursor.unpack(_ADDRESS_HEADER_LAYOUT)
        if size < _ADDRESS_HEADER_LAYOUT.size:
            raise FormatError(
                "MQFAddressHeader.HeaderSize",
                start,
                _ADDRESS_HEADER_SPEC_SECTION,
                f"{size} is below the minimum {_ADDRESS_HEADER_LAYOUT.size}",
            )
        listed = cursor.take_subcursor(
            size - _ADDRESS_HEADER_LAYOUT.size, "MQFAddressHeader.FormatNameList", _ADDRESS_HEADER_SPEC_SECTION
        )
        if count * _MIN_MQF_ELEMENT_BYTES > listed.remaining_bytes:
            raise FormatError(
                "MQFAddressHeader.ElementCount",
                start + 8,
                _ADDRESS_HEADER_SPEC_SECTION,
                f"{count} elements do not fit into {listed.remaining_bytes} bytes",
            )
        elements = tuple(MQFFormatNameElement.read(listed) for _ in range(count))
        padding = listed.read_bytes(
            min(listed.remaining_bytes, -listed.offset % 4), "MQFAddressHeader.Padding", _ADDRESS_HEADER_SPEC_SECTION
        )
        listed.require_end("MQFAddressHeader.HeaderSize", _ADDRESS_HEADER_SPEC_SECTION)
        padding += cursor.read_alignment_padding(4, "MQFAddressHeader.Padding", _ADDRESS_HEADER_SPEC_SECTION)
        return cls(header_id, elements, size, reserved, omit_zero_padding(padding))

    def build(self) -> bytes:
        wire = bytearray(_ADDRESS_HEADER_LAYOUT.size)
        for element in self.FormatNameList:
            wire += element.build(len(wire))
        end = len(wire)
        wire += build_padding(-end % 4, self.Padding, "MQFAddressHeader")
        size = len(wire) if self.HeaderSize is None else self.HeaderSize
        if not end <= size <= len(wire):
            raise MisuseError(f"MQFAddressHeader.HeaderSize is {size}, but the list requires {end} to {len(wire)}")
        wire[: _ADDRESS_HEADER_LAYOUT.size] = _ADDRESS_HEADER_LAYOUT.pack(
            size, self.HeaderID, self.Reserved, len(self.FormatNameList)
        )
        return bytes(wire)


@dataclass(frozen=True, slots=True)
class MQFSignatureHeader(Record):
    """A signature of the message.

    Spec: MS-MQMQ 2.2.20.3. 8 bytes, then the signature. ID and Reserved u16 LE; Size u32 LE (computed); Signature
    bytes; Padding: optional, because 2.2.20.3 specifies no padding and 2.2.19.1 requires aligned headers.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.3"

    Signature: bytes = b""
    ID: int = 0x015E
    Reserved: int = 0
    Padding: bytes | None = None

    @property
    def Size(self) -> int:  # noqa: N802 - the printed name
        """The size of Signature in bytes."""
        return len(self.Signature)

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        header_id, reserved, size = cursor.unpack(_SIGNATURE_HEADER_LAYOUT)
        signature = cursor.read_bytes(size, "MQFSignatureHeader.Signature", _SIGNATURE_HEADER_SPEC_SECTION)
        return cls(
            signature,
            header_id,
            reserved,
            read_end_padding(cursor, "MQFSignatureHeader.Padding", _SIGNATURE_HEADER_SPEC_SECTION),
        )

    def build(self) -> bytes:
        wire = _SIGNATURE_HEADER_LAYOUT.pack(self.ID, self.Reserved, len(self.Signature)) + self.Signature
        return wire + build_end_padding(-len(wire) % 4, self.Padding, "MQFSignatureHeader")


@dataclass(frozen=True, slots=True)
class MultiQueueFormatHeader(Record):
    """The lists of the destination, administration and response queues of a message, and a signature.

    Spec: MS-MQMQ 2.2.20.1. The header consists of three MQFAddressHeaders and an MQFSignatureHeader.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.20.1"

    Destination: MQFAddressHeader = MQFAddressHeader(0x0064)
    Administration: MQFAddressHeader = MQFAddressHeader(0x00C8)
    Response: MQFAddressHeader = MQFAddressHeader(0x012C)
    Signature: MQFSignatureHeader = MQFSignatureHeader()

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(
            MQFAddressHeader.read(cursor),
            MQFAddressHeader.read(cursor),
            MQFAddressHeader.read(cursor),
            MQFSignatureHeader.read(cursor),
        )

    def build(self) -> bytes:
        return self.Destination.build() + self.Administration.build() + self.Response.build() + self.Signature.build()
