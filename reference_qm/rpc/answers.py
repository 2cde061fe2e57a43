"""Builds the PDUs that answer calls. Spec: C706 12.6.4.7, 12.6.4.10; MS-RPCE 2.2.2.6."""

from __future__ import annotations

from reference_qm.rpc.bodies import Fault, Response
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity, build_call_fragments

_MAX_CANCEL_COUNT = 255


def build_response(
    call_id: int,
    p_cont_id: int,
    stub: bytes,
    cancels: int,
    fragment_bytes: int,
    security: NegotiatedSecurity | None = None,
) -> bytes:
    """Return a response in fragments of at most ``fragment_bytes``.

    Each fragment except the last contains a multiple of 8 bytes of stub data; its alloc_hint is the number of bytes
    that are not sent yet. ``security``: the security context of the call, which signs or seals each fragment.
    """
    count = min(cancels, _MAX_CANCEL_COUNT)

    def make_response_pdu(part: bytes, rest: int, flags: int) -> Pdu:
        return Pdu(Response(p_cont_id, part, rest, count), call_id, flags)

    return build_call_fragments(stub, fragment_bytes, security, make_response_pdu)


def build_fault(call_id: int, p_cont_id: int, status: int, *, executed: bool, cancels: int = 0) -> bytes:
    """Return a fault. ``executed`` is False if it is certain that the call was not executed (PFC_DID_NOT_EXECUTE)."""
    flags = WHOLE_PDU_FLAGS if executed else WHOLE_PDU_FLAGS | PfcFlags.DID_NOT_EXECUTE
    return Pdu(Fault(p_cont_id, status, min(cancels, _MAX_CANCEL_COUNT)), call_id, flags).build()
