"""Defines the bodies of the PDUs that negotiate contexts. Spec: C706 12.6.4; MS-RPCE 2.2.2.9. The fields have the names
of these documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from reference_qm.rpc.bodies import Body
from reference_qm.rpc.header import PacketType
from reference_qm.rpc.octets import OctetReader, OctetWriter
from reference_qm.rpc.syntaxes import NIL_SYNTAX, SyntaxId


def _read_syntax(reader: OctetReader) -> SyntaxId:
    return SyntaxId(reader.read_uuid(), reader.read_number(4))


def _write_syntax_identifier(writer: OctetWriter, syntax: SyntaxId) -> None:
    writer.write_uuid(syntax.uuid)
    writer.write_number(4, syntax.version)


@dataclass(frozen=True, slots=True)
class PresentationContextElement:
    """A p_cont_elem_t: a presentation context that the client proposes. Its fields are p_cont_id (u16), n_transfer_syn
    (u8), a reserved u8, and 20 bytes for each syntax.
    """

    p_cont_id: int
    abstract_syntax: SyntaxId
    transfer_syntaxes: tuple[SyntaxId, ...]


@dataclass(frozen=True, slots=True)
class Bind(Body):
    """The PDU with which a client proposes presentation contexts. Spec: C706 12.6.4.3. max_xmit_frag and max_recv_frag
    are u16 numbers of bytes.
    """

    PTYPE: ClassVar[PacketType] = PacketType.BIND
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.3"

    max_xmit_frag: int
    max_recv_frag: int
    assoc_group_id: int
    p_context_elem: tuple[PresentationContextElement, ...]

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "p_context_elem"
        sizes = reader.read_number(2), reader.read_number(2)
        group = reader.read_number(4)
        count = reader.read_number(1)
        reader.read_bytes(3)
        elements = []
        for _ in range(count):
            identifier, syntaxes = reader.read_number(2), reader.read_number(1)
            reader.read_bytes(1)
            abstract = _read_syntax(reader)
            elements.append(
                PresentationContextElement(identifier, abstract, tuple(_read_syntax(reader) for _ in range(syntaxes)))
            )
        return cls(*sizes, group, tuple(elements))

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(2, self.max_xmit_frag)
        writer.write_number(2, self.max_recv_frag)
        writer.write_number(4, self.assoc_group_id)
        writer.write_number(1, len(self.p_context_elem))
        writer.write_padding(4)
        for element in self.p_context_elem:
            writer.write_number(2, element.p_cont_id)
            writer.write_number(1, len(element.transfer_syntaxes))
            writer.write_number(1, 0)
            for syntax in (element.abstract_syntax, *element.transfer_syntaxes):
                _write_syntax_identifier(writer, syntax)


@dataclass(frozen=True, slots=True)
class AlterContext(Bind):
    """The PDU with which a client proposes further contexts. Spec: C706 12.6.4.1."""

    PTYPE: ClassVar[PacketType] = PacketType.ALTER_CONTEXT
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.1"


@dataclass(frozen=True, slots=True)
class PresentationContextResult:
    """A p_result_t: the answer to a proposed presentation context. Its fields are result (u16), reason (u16) and
    transfer_syntax (20 bytes).
    """

    result: int
    reason: int = 0
    transfer_syntax: SyntaxId = NIL_SYNTAX


@dataclass(frozen=True, slots=True)
class BindAck(Body):
    """The PDU in which a server answers each proposal of a bind. Spec: C706 12.6.4.4. ``sec_addr``: the secondary
    address with its terminating null, or empty bytes.
    """

    PTYPE: ClassVar[PacketType] = PacketType.BIND_ACK
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.4"

    max_xmit_frag: int
    max_recv_frag: int
    assoc_group_id: int
    sec_addr: bytes
    p_result_list: tuple[PresentationContextResult, ...]

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "p_result_list"
        sizes = reader.read_number(2), reader.read_number(2)
        group = reader.read_number(4)
        address = reader.read_bytes(reader.read_number(2))
        reader.skip_padding(4)
        count = reader.read_number(1)
        reader.read_bytes(3)
        results = tuple(
            PresentationContextResult(reader.read_number(2), reader.read_number(2), _read_syntax(reader))
            for _ in range(count)
        )
        return cls(*sizes, group, address, results)

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(2, self.max_xmit_frag)
        writer.write_number(2, self.max_recv_frag)
        writer.write_number(4, self.assoc_group_id)
        writer.write_number(2, len(self.sec_addr))
        writer.data += self.sec_addr
        writer.write_padding(4)
        writer.write_number(1, len(self.p_result_list))
        writer.write_padding(4)
        for result in self.p_result_list:
            writer.write_number(2, result.result)
            writer.write_number(2, result.reason)
            _write_syntax_identifier(writer, result.transfer_syntax)


@dataclass(frozen=True, slots=True)
class AlterContextResp(BindAck):
    """The PDU in which a server answers the proposals of an alter_context. Spec: C706 12.6.4.2."""

    PTYPE: ClassVar[PacketType] = PacketType.ALTER_CONTEXT_RESP
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.2"


@dataclass(frozen=True, slots=True)
class BindNak(Body):
    """The PDU with which a server refuses an association. Spec: C706 12.6.4.5. ``versions``: (major, minor) u8 each."""

    PTYPE: ClassVar[PacketType] = PacketType.BIND_NAK
    SPEC_SECTION: ClassVar[str] = "C706 12.6.4.5"

    provider_reject_reason: int
    versions: tuple[tuple[int, int], ...] = ((5, 0),)

    @classmethod
    def read(cls, reader: OctetReader, flags: int) -> Self:
        reader.where = "versions"
        reason, count = reader.read_number(2), reader.read_number(1)
        versions = tuple((reader.read_number(1), reader.read_number(1)) for _ in range(count))
        reader.read_bytes(reader.remaining)  # MS-RPCE 2.2.2.9: extended error information, which may be ignored
        return cls(reason, versions)

    def write(self, writer: OctetWriter) -> None:
        writer.write_number(2, self.provider_reject_reason)
        writer.write_number(1, len(self.versions))
        for major, minor in self.versions:
            writer.write_number(1, major)
            writer.write_number(1, minor)
