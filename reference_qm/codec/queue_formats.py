"""Parses and builds the names of queues inside packets. Spec: MS-MQMQ 2.2.18.1.4.1, 2.2.18.1.4.2, 2.2.18.1.5,
2.2.18.1.7.
"""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Self
from uuid import UUID

from reference_qm.codec import text
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError, MisuseError
from reference_qm.codec.layout import GUID, NULL_GUID, U16, U32, Layout
from reference_qm.codec.padding import build_padding
from reference_qm.codec.record import Record
from reference_qm.value_object import value_object

_DIRECT_FORMAT_NAME_SPEC_SECTION = "MS-MQMQ 2.2.18.1.5.2"
_PRIVATE_FORMAT_NAME_ID_LAYOUT = Layout("PrivateQueueFormatNameId", "MS-MQMQ 2.2.18.1.5.1", PrivateQueueIdentifier=U32)
_PUBLIC_FORMAT_NAME_LAYOUT = Layout("PublicQueueFormatName", "MS-MQMQ 2.2.18.1.7.1", PublicQueueIdentifier=GUID)
_PRIVATE_FORMAT_NAME_LAYOUT = Layout(
    "PrivateQueueFormatName", "MS-MQMQ 2.2.18.1.7.2", SourceQueueManager=GUID, PrivateQueueIdentifier=U32
)
_DIRECT_FORMAT_NAME_LAYOUT = Layout("DirectQueueFormatName", _DIRECT_FORMAT_NAME_SPEC_SECTION, Count=U16)
_DISTRIBUTION_LIST_FORMAT_NAME_LAYOUT = Layout(
    "MQFDistributionQueueFormatName", "MS-MQMQ 2.2.18.1.4.2", DistributionListIdentifier=GUID
)


@value_object
class PrivateQueueFormatNameId(Record):
    """The number of a private queue. Other fields of the packet identify the queue manager that hosts the queue.

    Spec: MS-MQMQ 2.2.18.1.5.1. 4 bytes. PrivateQueueIdentifier u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.5.1"

    PrivateQueueIdentifier: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_PRIVATE_FORMAT_NAME_ID_LAYOUT))

    def build(self) -> bytes:
        return _PRIVATE_FORMAT_NAME_ID_LAYOUT.build(self)


@value_object
class PublicQueueFormatName(Record):
    """A public queue.

    Spec: MS-MQMQ 2.2.18.1.7.1. 16 bytes. PublicQueueIdentifier 16-byte GUID.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.7.1"

    PublicQueueIdentifier: UUID = NULL_GUID

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_PUBLIC_FORMAT_NAME_LAYOUT))

    def build(self) -> bytes:
        return _PUBLIC_FORMAT_NAME_LAYOUT.build(self)


@value_object
class PrivateQueueFormatName(Record):
    """A private queue and the queue manager that hosts it.

    Spec: MS-MQMQ 2.2.18.1.7.2. 20 bytes. SourceQueueManager 16-byte GUID; PrivateQueueIdentifier u32 LE.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.7.2"

    SourceQueueManager: UUID = NULL_GUID
    PrivateQueueIdentifier: int = 0

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_PRIVATE_FORMAT_NAME_LAYOUT))

    def build(self) -> bytes:
        return _PRIVATE_FORMAT_NAME_LAYOUT.build(self)


@value_object
class DirectQueueFormatName(Record):
    """A direct format name, padded to a multiple of 4 bytes.

    Spec: MS-MQMQ 2.2.18.1.5.2. Count u16 LE, the size of the WCHAR buffer in bytes (computed); DirectFormatName:
    text without its terminating null; Terminated: whether the buffer has the terminating null; Padding: stored as
    in the module ``padding``.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.5.2"

    DirectFormatName: str = ""
    Terminated: bool = True
    Padding: bytes | None = None

    @property
    def Count(self) -> int:  # noqa: N802 - the printed name
        """The size of the WCHAR buffer in bytes, including the terminating null."""
        return len(text.append_terminator(self.DirectFormatName, self.Terminated))

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        start = cursor.offset
        (count,) = cursor.unpack(_DIRECT_FORMAT_NAME_LAYOUT)
        if count % 2:
            raise FormatError(
                "DirectQueueFormatName.Count",
                start,
                _DIRECT_FORMAT_NAME_SPEC_SECTION,
                f"{count} bytes are not whole WCHARs",
            )
        wire = cursor.read_bytes(count, "DirectQueueFormatName.DirectFormatName", _DIRECT_FORMAT_NAME_SPEC_SECTION)
        name, terminated = text.split_terminator(wire)
        return cls(
            name,
            terminated,
            cursor.read_nonzero_padding(4, "DirectQueueFormatName.Padding", _DIRECT_FORMAT_NAME_SPEC_SECTION),
        )

    def build(self) -> bytes:
        return _build_direct_name(self.DirectFormatName, self.Terminated, self.Padding)


@lru_cache(maxsize=1024)  # every packet names one of the same few queues
def _build_direct_name(name: str, terminated: bool, padding: bytes | None) -> bytes:
    wire = text.append_terminator(name, terminated)
    head = _DIRECT_FORMAT_NAME_LAYOUT.pack(len(wire))
    return head + wire + build_padding(-(len(head) + len(wire)) % 4, padding, "DirectQueueFormatName")


@value_object
class MQFDirectQueueFormatName(Record):
    """A null-terminated direct format name in a MultiQueueFormatHeader.

    Spec: MS-MQMQ 2.2.18.1.4.1. DirectFormatName: text without its terminating null. The name always starts on a
    2-byte boundary, because every structure before the name has an even size.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.4.1"

    DirectFormatName: str = ""

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        field = "MQFDirectQueueFormatName.DirectFormatName"
        return cls(text.decode_wchars(cursor.read_wchars_up_to_marker(text.NULL_WCHAR, field, "MS-MQMQ 2.2.18.1.4.1")))

    def build(self) -> bytes:
        if "\0" in self.DirectFormatName:
            raise MisuseError("MQFDirectQueueFormatName.DirectFormatName: a null inside the name would end the name")
        return text.append_terminator(self.DirectFormatName, terminated=True)


@value_object
class MQFDistributionQueueFormatName(Record):
    """A distribution list in a MultiQueueFormatHeader.

    Spec: MS-MQMQ 2.2.18.1.4.2. 16 bytes. DistributionListIdentifier 16-byte GUID.
    """

    SPEC_SECTION: ClassVar[str] = "MS-MQMQ 2.2.18.1.4.2"

    DistributionListIdentifier: UUID = NULL_GUID

    @classmethod
    def read(cls, cursor: ByteCursor) -> Self:
        return cls(*cursor.unpack(_DISTRIBUTION_LIST_FORMAT_NAME_LAYOUT))

    def build(self) -> bytes:
        return _DISTRIBUTION_LIST_FORMAT_NAME_LAYOUT.build(self)
