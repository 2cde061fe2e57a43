"""Build and dissect connection-oriented DCE/RPC PDUs of clients and servers with scapy's classes.

Spec: C706 12.6; MS-RPCE 2.2.2.

``rpc_fragments`` builds requests and responses. This module is written from the specification, independently of
``reference_qm.rpc``. PDUs are built without validation. They are dissected strictly, because scapy would silently
store undissected bytes as ``Raw``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple
from uuid import UUID

from scapy.layers.dcerpc import (
    DceRpc5,
    DceRpc5AbstractSyntax,
    DceRpc5AlterContext,
    DceRpc5AlterContextResp,
    DceRpc5Auth3,
    DceRpc5Bind,
    DceRpc5BindAck,
    DceRpc5BindNak,
    DceRpc5Context,
    DceRpc5Fault,
    DceRpc5PortAny,
    DceRpc5Request,
    DceRpc5Response,
    DceRpc5Result,
    DceRpc5TransferSyntax,
    DceRpc5Version,
)
from scapy.packet import NoPayload, Packet, Padding, Raw

from harness.wire.wire_error import DISSECTION_ERRORS, WireError

PDU_HEADER_BYTES = 16
SEC_TRAILER_BYTES = 8
"""int bytes: the size of a sec_trailer, without the token that follows it."""
REQUEST_HEADER_BYTES = 24
"""int bytes: the size of the part of a request or response that precedes its stub."""
MAX_FRAGMENT_BYTES = 5840
GROUP_ID_OFFSET = 20
"""int bytes: the offset of assoc_group_id in a PDU that negotiates contexts."""
MAX_STUB_BYTES = 8 * 1024 * 1024
"""int bytes: the maximum size of a stub that is reassembled from fragments. It is twice the size of the longest
message.
"""
VERIFICATION_TRAILER = bytes.fromhex("8ae3137102f43671")
"""The signature of the verification trailer that a client may add to the stub of its requests (MS-RPCE 2.2.2.13.1)."""
PACKET_PRIVACY_LEVEL = 6
"""The authentication level at which stub data are encrypted (MS-RPCE 2.2.1.1.8)."""
FIRST_FRAGMENT_FLAG, LAST_FRAGMENT_FLAG, PENDING_CANCEL_FLAG, CONCURRENT_MULTIPLEXING_FLAG, DID_NOT_EXECUTE_FLAG = (
    0x01,
    0x02,
    0x04,
    0x10,
    0x20,
)
WHOLE_FRAGMENT_FLAGS = FIRST_FRAGMENT_FLAG | LAST_FRAGMENT_FLAG

PDU_TYPE_NAMES = {
    0: "request",
    2: "response",
    3: "fault",
    11: "bind",
    12: "bind_ack",
    13: "bind_nak",
    14: "alter_context",
    15: "alter_context_resp",
    16: "auth3",
    17: "shutdown",
    18: "co_cancel",
    19: "orphaned",
}
"""The names of the PDU types, by number (C706 12.6.1, MS-RPCE 2.2.2.2)."""
_BODY_CLASS_BY_PDU_TYPE: dict[str, type[Packet]] = {
    "request": DceRpc5Request,
    "response": DceRpc5Response,
    "fault": DceRpc5Fault,
    "bind": DceRpc5Bind,
    "bind_ack": DceRpc5BindAck,
    "bind_nak": DceRpc5BindNak,
    "alter_context": DceRpc5AlterContext,
    "alter_context_resp": DceRpc5AlterContextResp,
    "auth3": DceRpc5Auth3,
}
_NEGOTIATING_PDU_TYPES = ("bind", "bind_ack", "alter_context", "alter_context_resp")
_NUMBER_BY_PDU_TYPE = {name: number for number, name in PDU_TYPE_NAMES.items()}


class Syntax(NamedTuple):
    """An abstract or transfer syntax (p_syntax_id_t)."""

    uuid: UUID
    major_version: int
    minor_version: int = 0

    @property
    def version(self) -> int:
        """The version as u32, with the minor version in the upper 16 bits."""
        return self.minor_version << 16 | self.major_version


NDR = Syntax(UUID("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2)
NDR64 = Syntax(UUID("71710533-beba-4937-8319-b5dbef9ccc36"), 1)
QM2QM = Syntax(UUID("1088a980-eae5-11d0-8d9b-00a02453c337"), 1)
QMCOMM = Syntax(UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525"), 1)
EPT = Syntax(UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa"), 3)
UNKNOWN_SYNTAX = Syntax(UUID("6d71636f-6e66-4f72-8d00-0000000000ff"), 1)
"""An interface that no server implements."""

ACCEPTANCE_RESULT, USER_REJECTION_RESULT, PROVIDER_REJECTION_RESULT, NEGOTIATE_ACK_RESULT = range(4)
"""The values of p_cont_def_result_t. Spec: C706 12.6.3.1; MS-RPCE 2.2.2.4."""


class Proposal(NamedTuple):
    """A presentation context that a client proposes (p_cont_elem_t)."""

    p_cont_id: int
    abstract_syntax: Syntax
    transfers: tuple[Syntax, ...]


class BindOutcome(NamedTuple):
    """A server's answer to one proposal (p_result_t). ``transfer_syntax`` is None for the nil syntax."""

    result: int
    reason: int = 0
    transfer_syntax: Syntax | None = None


# -- building ---------------------------------------------------------------------------------------------------


def build_pdu(
    ptype: str, call_id: int, body: Packet | None = None, flags: int = WHOLE_FRAGMENT_FLAGS, **header: Any
) -> Packet:
    """Build a PDU of the type with the given name. ``header`` contains fields of scapy's DceRpc5, legal or not."""
    made = DceRpc5(**{"ptype": _NUMBER_BY_PDU_TYPE[ptype], "call_id": call_id, "pfc_flags": flags, **header})
    made.add_payload(body)
    return build_without_copies(made)


def build_without_copies(packet: Packet) -> Packet:
    """Let scapy build a packet without copying its fields; return the packet. Scapy would copy the fields because
    it allows fields with several values.
    """
    packet.explicit = 1
    for value in packet.fields.values():
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, Packet):
                build_without_copies(part)
    if not isinstance(packet.payload, NoPayload):
        build_without_copies(packet.payload)
    return packet


def bind(
    call_id: int,
    proposals: Sequence[Proposal],
    *,
    group: int = 0,
    kind: str = "bind",
    flags: int = WHOLE_FRAGMENT_FLAGS,
    **body: Any,
) -> Packet:
    """Build a bind, or the PDU that ``kind`` names, such as alter_context. ``body`` contains fields of DceRpc5Bind.
    Spec: C706 12.6.4.3.
    """
    contexts = [
        DceRpc5Context(
            cont_id=one.p_cont_id,
            abstract_syntax=DceRpc5AbstractSyntax(
                if_uuid=one.abstract_syntax.uuid, if_version=one.abstract_syntax.version
            ),
            transfer_syntaxes=[_build_transfer_syntax(each) for each in one.transfers],
        )
        for one in proposals
    ]
    sizes = {"max_xmit_frag": MAX_FRAGMENT_BYTES, "max_recv_frag": MAX_FRAGMENT_BYTES}
    fields = {**sizes, "assoc_group_id": group, "context_elem": contexts, "reserved": bytes(3), **body}
    return build_pdu(kind, call_id, _BODY_CLASS_BY_PDU_TYPE[kind](**fields), flags)


@lru_cache(maxsize=128)
def build_bind(call_id: int, proposals: tuple[Proposal, ...], group: int, kind: str, flags: int) -> bytes:
    """Return the bytes that ``bind`` builds. The bytes are cached, because most associations in a run propose the same
    contexts.
    """
    return bytes(bind(call_id, proposals, group=group, kind=kind, flags=flags))


def bind_ack(
    call_id: int,
    outcomes: Sequence[BindOutcome],
    *,
    group: int,
    port: str = "",
    kind: str = "bind_ack",
    flags: int = WHOLE_FRAGMENT_FLAGS,
    **body: Any,
) -> Packet:
    """Build a bind_ack, or the PDU that ``kind`` names, such as alter_context_resp. Spec: C706 12.6.4.4."""
    results = [
        DceRpc5Result(result=one.result, reason=one.reason, transfer_syntax=_build_transfer_syntax(one.transfer_syntax))
        for one in outcomes
    ]
    address = DceRpc5PortAny(port_spec=port.encode() + b"\0" if port else b"")
    sizes = {"max_xmit_frag": MAX_FRAGMENT_BYTES, "max_recv_frag": MAX_FRAGMENT_BYTES}
    fields = {**sizes, "assoc_group_id": group, "sec_addr": address, "results": results, "reserved": bytes(3), **body}
    return build_pdu(kind, call_id, _BODY_CLASS_BY_PDU_TYPE[kind](**fields), flags)


@lru_cache(maxsize=128)
def build_bind_ack(
    call_id: int, outcomes: tuple[BindOutcome, ...], group: int, port: str, kind: str, flags: int
) -> bytes:
    """Return the bytes of the PDU that ``bind_ack`` builds."""
    return bytes(bind_ack(call_id, outcomes, group=group, port=port, kind=kind, flags=flags))


def bind_nak(call_id: int, reason: int) -> Packet:
    """Build a bind_nak. Spec: C706 12.6.4.5."""
    return build_pdu(
        "bind_nak", call_id, DceRpc5BindNak(provider_reject_reason=reason, protocols=[DceRpc5Version(major=5)])
    )


def fault(call_id: int, p_cont_id: int, status: int, *, flags: int = WHOLE_FRAGMENT_FLAGS) -> Packet:
    """Build a fault. Spec: C706 12.6.4.7."""
    return build_pdu("fault", call_id, DceRpc5Fault(cont_id=p_cont_id, status=status), flags)


def build_rpc_auth3(call_id: int) -> Packet:
    """Build an rpc_auth_3 without its trailer. Spec: MS-RPCE 2.2.2.10."""
    return build_pdu("auth3", call_id, DceRpc5Auth3())


def build_co_cancel_pdu(call_id: int) -> Packet:
    """Build a co_cancel. Spec: C706 12.6.4.6."""
    return build_pdu("co_cancel", call_id)


def build_orphaned_pdu(call_id: int) -> Packet:
    """Build an orphaned PDU. Spec: C706 12.6.4.8."""
    return build_pdu("orphaned", call_id)


def _build_transfer_syntax(syntax: Syntax | None) -> Packet:
    given = syntax or Syntax(UUID(int=0), 0)
    return DceRpc5TransferSyntax(if_uuid=given.uuid, if_version=given.version)


# -- reading ----------------------------------------------------------------------------------------------------


def read_rpc_size(data: bytes) -> int | None:
    """Return the size of the PDU that begins with the given bytes, or None while its header is incomplete. Raise
    WireError for bytes that do not begin a PDU.
    """
    if len(data) < PDU_HEADER_BYTES:
        return None
    _read_pdu_type(data)
    size = int.from_bytes(data[8:10], read_byte_order(data))
    if size < PDU_HEADER_BYTES:
        raise WireError(f"DCE/RPC: frag_len {size} is below {PDU_HEADER_BYTES}")
    return size


def read_byte_order(data: bytes) -> Literal["little", "big"]:
    """Return the byte order of a PDU."""
    return "little" if data[4] >> 4 == 1 else "big"


def get_rpc_kind(data: bytes) -> str:
    """Return the name of a PDU's type; raise WireError for an unknown type."""
    return PDU_TYPE_NAMES[_read_pdu_type(data)]


def read_call_id(data: bytes) -> int:
    """Return the call identifier of a PDU that ``get_rpc_kind`` has accepted."""
    return int.from_bytes(data[12:16], read_byte_order(data))


def read_flags(data: bytes) -> int:
    """Return the pfc_flags of a PDU."""
    return data[3]


def dissect_rpc(data: bytes) -> Packet:
    """Dissect a PDU completely, except its stub, which remains ``Raw``. Raise WireError if this fails."""
    name = get_rpc_kind(data)
    auth_length = int.from_bytes(data[10:12], read_byte_order(data))
    if auth_length and PDU_HEADER_BYTES + SEC_TRAILER_BYTES + auth_length > len(data):
        raise WireError(f"{name}: auth_len {auth_length} and the sec_trailer do not fit into {len(data)} bytes")
    try:
        packet = DceRpc5(data)
    except DISSECTION_ERRORS as error:
        raise WireError(f"{name}: {type(error).__name__}: {error}") from error
    body = _BODY_CLASS_BY_PDU_TYPE.get(name)
    if packet.frag_len != len(data) or packet.haslayer(Padding):
        raise WireError(f"{name}: frag_len is {packet.frag_len}, but the PDU has {len(data)} bytes")
    if body is not None and not isinstance(packet.payload, body):
        raise WireError(f"{name}: the body cannot be dissected")
    # scapy also turns an unknown token into Raw; only the body matters here.
    if name not in ("request", "response", "fault", "bind_nak", "auth3") and packet.payload.haslayer(Raw):
        raise WireError(f"{name}: {len(packet.payload[Raw].load)} bytes are left over")
    return packet


def read_stub(packet: Packet) -> bytes:
    """Return the stub of a request or response."""
    rest = packet.payload.payload
    return b"" if isinstance(rest, NoPayload) else bytes(rest)


def check_pdu(data: bytes) -> None:
    """Raise WireError if a PDU cannot be dissected."""
    if get_rpc_kind(data) in _NEGOTIATING_PDU_TYPES:
        _check_negotiation(_blank_identifiers(data))
    else:
        dissect_rpc(data)


def list_bind_outcomes(data: bytes) -> tuple[BindOutcome, ...]:
    """Return the result of ``read_bind_outcomes`` for the bytes of a PDU."""
    return _read_outcomes_in_pdu(_blank_identifiers(data))


def list_bind_proposals(data: bytes) -> tuple[Proposal, ...]:
    """Return the result of ``read_bind_proposals`` for the bytes of a PDU."""
    return _read_proposals_in_pdu(_blank_identifiers(data))


def read_group_id(data: bytes) -> int:
    """Return the assoc_group_id of a PDU that negotiates contexts."""
    return int.from_bytes(data[GROUP_ID_OFFSET : GROUP_ID_OFFSET + 4], read_byte_order(data))


def _blank_identifiers(data: bytes) -> bytes:
    """Return a PDU that negotiates contexts with its call identifier and its group identifier set to zero. In most
    associations of a run, the PDUs differ only in these identifiers, so that results can be cached.
    """
    if len(data) < GROUP_ID_OFFSET + 4:
        return data
    return data[:12] + bytes(4) + data[PDU_HEADER_BYTES:GROUP_ID_OFFSET] + bytes(4) + data[GROUP_ID_OFFSET + 4 :]


@lru_cache(maxsize=128)
def _check_negotiation(data: bytes) -> None:
    dissect_rpc(data)


@lru_cache(maxsize=128)
def _read_outcomes_in_pdu(data: bytes) -> tuple[BindOutcome, ...]:
    return tuple(read_bind_outcomes(dissect_rpc(data)))


@lru_cache(maxsize=128)
def _read_proposals_in_pdu(data: bytes) -> tuple[Proposal, ...]:
    return tuple(read_bind_proposals(dissect_rpc(data)))


def read_bind_outcomes(packet: Packet) -> list[BindOutcome]:
    """Return the answers to the proposals from a bind_ack or alter_context_resp, in order."""
    return [BindOutcome(one.result, one.reason, _read_syntax(one.transfer_syntax)) for one in packet.payload.results]


def read_bind_proposals(packet: Packet) -> list[Proposal]:
    """Return the proposals in a bind or alter_context."""
    found = []
    for one in packet.payload.context_elem:
        abstract = _read_syntax(one.abstract_syntax) or Syntax(UUID(int=0), 0)
        transfers = tuple(filter(None, (_read_syntax(each) for each in one.transfer_syntaxes)))
        found.append(Proposal(one.cont_id, abstract, transfers))
    return found


def _read_syntax(packet: Packet) -> Syntax | None:
    if packet.if_uuid is None or packet.if_uuid == UUID(int=0):
        return None
    return Syntax(packet.if_uuid, packet.if_version & 0xFFFF, packet.if_version >> 16)


def _read_pdu_type(data: bytes) -> int:
    if len(data) < PDU_HEADER_BYTES:
        raise WireError(f"DCE/RPC: the PDU has {len(data)} bytes, but needs at least {PDU_HEADER_BYTES}")
    if data[0] != 5 or data[2] not in PDU_TYPE_NAMES:
        raise WireError(f"DCE/RPC: no supported PDU has version {data[0]} and PTYPE {data[2]}")
    return data[2]


def format_rpc_dissection(data: bytes, stub: Any = None) -> str:
    """Return the fields of a PDU as text, with the fields of its stub if the stub was read. This function raises no
    exception.
    """
    try:
        packet = dissect_rpc(data)
    except WireError as error:
        return f"cannot be dissected: {error}"
    text = str(packet.show(dump=True))
    sealed = is_stub_encrypted(packet)
    if stub is None:
        return f"{text}the stub data are encrypted, so they are neither read nor judged\n" if sealed else text
    note = "the stub data as decrypted by the tester; on the wire they are the bytes above\n" if sealed else ""
    return f"{text}{note}{stub.show(dump=True)}"


def is_stub_encrypted(packet: Packet) -> bool:
    """Return whether the stub data of a request or response are encrypted (MS-RPCE 3.3.1.5.2.2)."""
    verifier = packet.auth_verifier
    return (
        PDU_TYPE_NAMES[packet.ptype] in ("request", "response")
        and verifier is not None
        and verifier.auth_level == PACKET_PRIVACY_LEVEL
    )
