"""Parses and builds connection-oriented PDUs, and splits a stream into PDUs. Spec: C706 12.6; MS-RPCE 2.2.2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc.bind_bodies import AlterContext, AlterContextResp, Bind, BindAck, BindNak
from reference_qm.rpc.bodies import Auth3, Body, CoCancel, Fault, Orphaned, Request, Response, Shutdown
from reference_qm.rpc.header import (
    HEADER_SIZE,
    HEADER_SPEC_SECTION,
    LITTLE_ENDIAN_DREP,
    RPC_VERS,
    RPC_VERS_MINORS,
    SEC_TRAILER_SIZE,
    WHOLE_PDU_FLAGS,
    Header,
    SecTrailer,
    get_byte_order,
)
from reference_qm.rpc.octets import ByteOrder, OctetReader, OctetWriter
from reference_qm.rpc.rpc_errors import PduError

_BODY_TYPES: tuple[type[Body], ...] = (
    AlterContext,
    AlterContextResp,
    Auth3,
    Bind,
    BindAck,
    BindNak,
    CoCancel,
    Fault,
    Orphaned,
    Request,
    Response,
    Shutdown,
)
BODY_BY_PTYPE = MappingProxyType({int(kind.PTYPE): kind for kind in _BODY_TYPES})
"""The class of the body, by the PTYPE of the PDU. Other PTYPEs are not supported."""


@dataclass(frozen=True, slots=True)
class Pdu:
    """A PDU. Its frag_length and auth_length are computed from its content."""

    body: Body
    call_id: int
    pfc_flags: int = WHOLE_PDU_FLAGS
    packed_drep: bytes = LITTLE_ENDIAN_DREP
    sec_trailer: SecTrailer | None = None
    rpc_vers_minor: int = 0

    @property
    def order(self) -> ByteOrder:
        """The byte order of the PDU and of its stub."""
        return get_byte_order(self.packed_drep)

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Parse the bytes of exactly one PDU. Raise PduError for other bytes."""
        header = Header.parse(data)
        if header.rpc_vers != RPC_VERS or header.rpc_vers_minor not in RPC_VERS_MINORS:
            version = f"{header.rpc_vers}.{header.rpc_vers_minor}"
            raise PduError(
                "rpc_vers", 0, HEADER_SPEC_SECTION, f"version {version} is not supported; 5.0 and 5.1 are supported"
            )
        if header.frag_length != len(data):
            raise PduError(
                "frag_length",
                8,
                HEADER_SPEC_SECTION,
                f"the value is {header.frag_length}, but the PDU has {len(data)} bytes",
            )
        kind = BODY_BY_PTYPE.get(header.ptype)
        if kind is None:
            raise PduError("PTYPE", 2, HEADER_SPEC_SECTION, f"{header.ptype} is not supported")
        end, trailer = len(data), None
        if header.auth_length:
            trailer = SecTrailer.parse(data, header)
            end -= header.auth_length + SEC_TRAILER_SIZE + trailer.auth_pad_length
        reader = OctetReader(data, header.order, kind.SPEC_SECTION, HEADER_SIZE, end)
        body = kind.read(reader, header.pfc_flags)
        reader.require_end(kind.__name__)
        return cls(body, header.call_id, header.pfc_flags, header.packed_drep, trailer, header.rpc_vers_minor)

    def build(self) -> bytes:
        """Return the bytes of the PDU. Raise MisuseError if ``parse`` would refuse these bytes."""
        writer = OctetWriter(get_byte_order(self.packed_drep), type(self.body).__name__)
        writer.data += bytes(HEADER_SIZE)
        self.body.write(writer)
        auth_length = 0
        if self.sec_trailer is not None:
            auth_length = len(self.sec_trailer.token)
            if not auth_length:
                raise MisuseError("a sec_trailer must have a token")
            writer.data += self.sec_trailer.build(writer.order)
        header = Header(
            self.body.PTYPE,
            self.body.add_required_flags(self.pfc_flags),
            self.packed_drep,
            len(writer.data),
            auth_length,
            self.call_id,
            rpc_vers_minor=self.rpc_vers_minor,
        )
        writer.data[:HEADER_SIZE] = header.build()
        return bytes(writer.data)


class PduFramer:
    """Splits a stream, which arrives in pieces of any size, into complete PDUs of at most ``longest`` bytes. It buffers
    at most ``longest`` bytes.

    After an invalid frag_length the framer yields no more PDUs, because the start of the next PDU is unknown.
    """

    __slots__ = ("_awaited_size", "_is_size_known", "_unfinished_pdu", "longest")

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self._unfinished_pdu = bytearray()
        self._awaited_size = HEADER_SIZE
        self._is_size_known = False
        """Whether ``_awaited_size`` is the frag_length of the received header."""

    @property
    def pending_bytes(self) -> int:
        """The number of bytes of an unfinished PDU."""
        return len(self._unfinished_pdu)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the PDUs that are complete after ``data`` is appended. Raise PduError as soon as the bytes cannot
        begin a PDU.
        """
        position = 0
        while position < len(data):
            taken = data[position : position + self._awaited_size - len(self._unfinished_pdu)]
            self._unfinished_pdu += taken
            position += len(taken)
            if len(self._unfinished_pdu) == self._awaited_size and not self._is_size_known:
                self._measure_pdu()
            if len(self._unfinished_pdu) == self._awaited_size:
                whole = bytes(self._unfinished_pdu)
                self._unfinished_pdu.clear()
                self._awaited_size, self._is_size_known = HEADER_SIZE, False
                yield whole

    def _measure_pdu(self) -> None:
        size = Header.parse(bytes(self._unfinished_pdu)).frag_length
        if not HEADER_SIZE <= size <= self.longest:
            raise PduError(
                "frag_length",
                8,
                HEADER_SPEC_SECTION,
                f"the value is {size}, which is outside {HEADER_SIZE} to {self.longest}",
            )
        self._awaited_size, self._is_size_known = size, True
