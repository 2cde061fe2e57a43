"""Determine the interface, the operation and the stub of each PDU of a connection. All of them are derived from the
packets of this connection alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.wire.rpc import (
    ACCEPTANCE_RESULT,
    FIRST_FRAGMENT_FLAG,
    LAST_FRAGMENT_FLAG,
    MAX_STUB_BYTES,
    NDR,
    NDR64,
    Proposal,
    Syntax,
    dissect_rpc,
    get_rpc_kind,
    is_stub_encrypted,
    read_bind_outcomes,
    read_bind_proposals,
    read_stub,
)
from harness.wire.rpc_ept import EPT_OPERATIONS
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from harness.wire.rpc_qmcomm import QMCOMM_OPERATIONS
from harness.wire.rpc_stub import Operation
from harness.wire.wire_error import WireError

_OPERATION_BY_OPNUM = {
    (one.interface, one.opnum): one
    for one in (*QM2QM_OPERATIONS.values(), *QMCOMM_OPERATIONS.values(), *EPT_OPERATIONS.values())
}


class CapturedPdu(Protocol):
    """A PDU: its bytes and, after decoding, its stub."""

    data: bytes
    stub: Any


@dataclass(slots=True)
class _CapturedCall:
    operation: Operation
    is_ndr64: bool
    received_stub_bytes: dict[str, bytearray] = field(default_factory=dict)
    """The bytes of the request stub and of the response stub that have been received so far."""
    first: dict[str, CapturedPdu] = field(default_factory=dict)


class _CapturedRpcConnection:
    """The calls of one connection. They are found by reading the PDUs one by one. Malformed PDUs, and PDUs that
    belong to no call, are skipped.
    """

    def __init__(self) -> None:
        self._proposed_contexts: dict[int, list[Proposal]] = {}
        self._contexts: dict[int, tuple[Syntax, bool]] = {}
        """For each context identifier, the interface of the presentation context, and whether its stubs are in
        NDR64.
        """
        self._calls: dict[int, _CapturedCall] = {}

    def add_pdu(self, pdu: CapturedPdu) -> None:
        kind = get_rpc_kind(pdu.data)
        packet = dissect_rpc(pdu.data)
        if kind in ("bind", "alter_context"):
            self._proposed_contexts[packet.call_id] = read_bind_proposals(packet)
        elif kind in ("bind_ack", "alter_context_resp"):
            for one, outcome in zip(
                self._proposed_contexts.pop(packet.call_id, ()), read_bind_outcomes(packet), strict=False
            ):
                if outcome.result == ACCEPTANCE_RESULT and outcome.transfer_syntax in (NDR, NDR64):
                    self._contexts[one.p_cont_id] = (one.abstract_syntax, outcome.transfer_syntax == NDR64)
        elif kind in ("request", "response"):
            self._add_stub_bytes(kind, pdu, packet)

    def _add_stub_bytes(self, kind: str, pdu: CapturedPdu, packet: Any) -> None:
        if kind == "request" and packet.pfc_flags & FIRST_FRAGMENT_FLAG:
            self._calls.pop(packet.call_id, None)
            interface, wide = self._contexts.get(packet.payload.cont_id, (None, False))
            operation = _OPERATION_BY_OPNUM.get((interface, packet.payload.opnum)) if interface else None
            if operation is not None:
                self._calls[packet.call_id] = _CapturedCall(operation, wide)
        call = self._calls.get(packet.call_id)
        if call is None:
            return
        if is_stub_encrypted(packet):  # a capture contains no keys: an encrypted stub is neither shown nor judged
            del self._calls[packet.call_id]
            return
        call.first.setdefault(kind, pdu)
        gathered = call.received_stub_bytes.setdefault(kind, bytearray())
        gathered += read_stub(packet)
        if len(gathered) > MAX_STUB_BYTES:
            del self._calls[packet.call_id]
        elif packet.pfc_flags & LAST_FRAGMENT_FLAG:
            read = call.operation.read_request if kind == "request" else call.operation.read_response
            call.first[kind].stub = read(bytes(gathered), call.is_ndr64)
            if kind == "response":
                del self._calls[packet.call_id]


def read_stubs(pdus: Iterable[CapturedPdu]) -> None:
    """Decode the stubs in the PDUs of a connection, which are given in the order of transmission. The complete stub
    is stored in the PDU that contains its first fragment.
    """
    connection = _CapturedRpcConnection()
    for pdu in pdus:
        try:
            connection.add_pdu(pdu)
        except WireError:  # a malformed PDU or stub is shown as far as it can be dissected
            continue
