"""Defines the bodies of the PDUs of calls. Spec: C706 12.6.4; MS-RPCE 2.2.2.8. The fields have the names of these
documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self
from uuid import UUID

from reference_qm.rpc.header import PacketType, PfcFlags
from reference_qm.rpc.octets import OctetReader, OctetWriter


class Body(ABC):
    """The part of a PDU after the common header. ``build(parse(x))`` returns a body with the same values as ``x``,
    except that reserved fields are 0.
    """

    __slots__ = ()

    PTYPE: ClassVar[PacketType]
    SPEC_SECTION: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        """Read the body, which must use all bytes of the reader. Raise PduError for an invalid body."""

    @abstractmethod
    def write(self, writer: OctetWriter) -> None:
        """Write the body after the header. Raise MisuseError for a value that cannot be written."""

    def add_required_flags(self, pfc_flags: int) -> int:
        """Return the given pfc_flags together with the flags that the body requires."""
        return pfc_flags


@dataclass(frozen=True, slots=True)
class Request(Body):
    """A fragment of a request. Spec: C706 12.6.4.9. alloc_hint u32; p_cont_id, opnum u16; object UUID or None."""

    PTYPE: ClassVar[PacketType] = PacketType.REQUEST
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.9"

    p_cont_id: int
    opnum: int
    stub: bytes
    alloc_hint: int = 0
    object: UUID | None = None

    def add_required_flags(self, pfc_flags: int) -> int:
        return (pfc_flags & ~PfcFlags.OBJECT_UUID) | (PfcFlags.OBJECT_UUID if self.object is not None else 0)

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "request"
        hint, context, opnum = reader.read_number(4), reader.read_number(2), reader.read_number(2)
        object_uuid = reader.read_uuid() if flags & PfcFlags.OBJECT_UUID else None
        return cls(context, opnum, reader.read_bytes(reader.remaining), hint, object_uuid)

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(4, self.alloc_hint)
        writer.write_number(2, self.p_cont_id)
        writer.write_number(2, self.opnum)
        if self.object is not None:
            writer.write_uuid(self.object)
        writer.data += self.stub


@dataclass(frozen=True, slots=True)
class Response(Body):
    """A fragment of a response. Spec: C706 12.6.4.10. alloc_hint u32; p_cont_id u16; cancel_count u8."""

    PTYPE: ClassVar[PacketType] = PacketType.RESPONSE
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.10"

    p_cont_id: int
    stub: bytes
    alloc_hint: int = 0
    cancel_count: int = 0

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "response"
        hint, context, cancels = reader.read_number(4), reader.read_number(2), reader.read_number(1)
        reader.read_bytes(1)
        return cls(context, reader.read_bytes(reader.remaining), hint, cancels)

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(4, self.alloc_hint)
        writer.write_number(2, self.p_cont_id)
        writer.write_number(1, self.cancel_count)
        writer.write_number(1, 0)
        writer.data += self.stub


@dataclass(frozen=True, slots=True)
class Fault(Body):
    """The PDU with which a server reports that a call failed. Spec: C706 12.6.4.7; MS-RPCE 2.2.2.8 (a fault has no
    stub). status u32.
    """

    PTYPE: ClassVar[PacketType] = PacketType.FAULT
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.7"

    p_cont_id: int
    status: int
    cancel_count: int = 0

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "fault"
        reader.read_number(4)
        context, cancels = reader.read_number(2), reader.read_number(1)
        reader.read_bytes(1)
        status = reader.read_number(4)
        reader.read_bytes(4)
        reader.read_bytes(reader.remaining)  # MS-RPCE 2.2.2.8: a client ignores stub data
        return cls(context, status, cancels)

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(4, 0)
        writer.write_number(2, self.p_cont_id)
        writer.write_number(1, self.cancel_count)
        writer.write_number(1, 0)
        writer.write_number(4, self.status)
        writer.write_number(4, 0)


@dataclass(frozen=True, slots=True)
class Auth3(Body):
    """The PDU that contains the client's last token if the provider exchanges an odd number of tokens. The server
    does not answer this PDU. Spec: MS-RPCE 2.2.2.10.

    The body consists of 4 bytes without meaning. A reader skips all bytes between the header and the sec_trailer.
    """

    PTYPE: ClassVar[PacketType] = PacketType.AUTH3
    SPEC_SECTION: ClassVar[str] = "MS-RPCE 2.2.2.10"

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.read_bytes(reader.remaining)
        return cls()

    def write(self, writer: OctetWriter) -> None:
        writer.data += bytes(4)


@dataclass(frozen=True, slots=True)
class _EmptyBody(Body):
    """A PDU without a body."""

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        return cls()

    def write(self, writer: OctetWriter) -> None:
        """Write nothing, because this PDU consists only of its header."""


@dataclass(frozen=True, slots=True)
class Shutdown(_EmptyBody):
    """The PDU with which a server asks the client to end the association. Spec: C706 12.6.4.11."""

    PTYPE: ClassVar[PacketType] = PacketType.SHUTDOWN
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.11"


@dataclass(frozen=True, slots=True)
class CoCancel(_EmptyBody):
    """The PDU with which a client cancels a call. Spec: C706 12.6.4.6."""

    PTYPE: ClassVar[PacketType] = PacketType.CO_CANCEL
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.6"


@dataclass(frozen=True, slots=True)
class Orphaned(_EmptyBody):
    """The PDU with which a client abandons a call. Spec: C706 12.6.4.8."""

    PTYPE: ClassVar[PacketType] = PacketType.ORPHANED
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.8"
