"""Handles the calls of an association, from their first fragment to their end. Spec: MS-RPCE 3.3.3.5; C706 12.6.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.rpc.answers import build_fault, build_response
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.calls import Call, IncomingCall
from reference_qm.rpc.events import CallCancelled, CallOrphaned, CallReceived, HandleRundown, RpcOutput
from reference_qm.rpc.groups import ContextHandle
from reference_qm.rpc.header import PfcFlags
from reference_qm.rpc.limits import MAX_REQUEST_STUB_BYTES
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity
from reference_qm.rpc.rpc_errors import StubError
from reference_qm.rpc.status import FaultStatus
from reference_qm.rpc.verification import MAX_PADDING_BYTES, VerificationTrailerError, strip_verification_trailer

if TYPE_CHECKING:
    from reference_qm.rpc.association import Association
    from reference_qm.rpc.groups import AssociationGroup

_REMEMBERED_CALLS_LIMIT = 150
"""The number of recently ended calls that are remembered, so that late fragments of these calls are dropped without a
protocol error (MS-RPCE 3.3.3.5.6).
"""


class PendingCalls:
    """The pending calls of an association. At most one request is received at a time, but a multiplexed association
    runs several calls at once.

    Spec: MS-RPCE 3.3.1.5.8, 3.3.3.
    """

    def __init__(self, association: Association) -> None:
        self._association = association
        self._incoming: IncomingCall | None = None
        self._calls: dict[int, Call] = {}
        self._stub_bytes = 0
        """The stub bytes of the running calls."""
        self._current_call_id = -1
        """The highest call_id received (MS-RPCE 3.3.3.1.1)."""

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def is_receiving_fragments(self) -> bool:
        """Whether further fragments of a request are expected."""
        return self._incoming is not None

    @property
    def received_stub_bytes(self) -> int:
        """The number of stub bytes received so far of a fragmented request."""
        return 0 if self._incoming is None else len(self._incoming.stub)

    # -- request ------------------------------------------------------------------------------------------------

    def on_request(self, pdu: Pdu, security: NegotiatedSecurity | None = None) -> list[RpcOutput]:
        """Process an unprotected fragment of a request. Spec: C706 12.6.4.9; MS-RPCE 3.3.3.5."""
        request = pdu.body
        assert isinstance(request, Request)
        if pdu.pfc_flags & PfcFlags.FIRST_FRAG:
            if (breach := self._find_violation(pdu)) is not None:
                return self._association.refuse_protocol_violation(pdu, breach)
            self._current_call_id = pdu.call_id
            return self._start_call(pdu, request, security)
        incoming = self._incoming
        if incoming is None:
            if 0 <= self._current_call_id - pdu.call_id < _REMEMBERED_CALLS_LIMIT:
                return []
            return self._association.refuse_protocol_violation(
                pdu, f"a fragment continues call {pdu.call_id}, which is unknown (MS-RPCE 3.3.3.5.6)"
            )
        same = incoming.call_id, incoming.context.p_cont_id, incoming.first.opnum
        if same != (pdu.call_id, request.p_cont_id, request.opnum):
            return self._association.refuse_protocol_violation(
                pdu, "a fragment of another call arrived before the request was complete (MS-RPCE 3.3.3.5.2)"
            )
        return self._add_fragment(incoming, pdu, request)

    def _find_violation(self, pdu: Pdu) -> str | None:
        """Return the reason why a new call must be refused as a protocol violation, or None if the call is valid."""
        if pdu.call_id <= self._current_call_id:
            return f"call_id {pdu.call_id} does not follow call_id {self._current_call_id} (MS-RPCE 3.3.3.5.2)"
        if self._incoming is not None:
            return f"call {pdu.call_id} began before call {self._incoming.call_id} was complete (MS-RPCE 3.3.1.5.8)"
        if self._calls and not self._association.multiplexed:
            return (
                f"call {pdu.call_id} began before the previous answer, "
                "but the connection is not multiplexed (MS-RPCE 3.3.1.5.8)"
            )
        return None

    def _start_call(self, pdu: Pdu, request: Request, security: NegotiatedSecurity | None) -> list[RpcOutput]:
        """Start a call. An invalid first fragment is answered at once (MS-RPCE 3.3.3.5.8)."""
        context = self._association.contexts.get(request.p_cont_id)
        if context is None:
            return self._refuse_request(pdu.call_id, request.p_cont_id, FaultStatus.NCA_S_UNK_IF)
        method = context.interface.methods.get(request.opnum)
        if method is None:
            return self._refuse_request(pdu.call_id, request.p_cont_id, FaultStatus.NCA_S_OP_RNG_ERROR)
        limits = self._association.limits
        group = self._get_association_group()
        full = method.opens_handle and len(group.handles) + group.reserved_handle_count >= limits.handles
        if self._association.is_shutting_down or len(self._calls) >= limits.pending_calls or full:
            return self._refuse_request(pdu.call_id, request.p_cont_id, FaultStatus.NCA_S_SERVER_TOO_BUSY)
        incoming = IncomingCall(pdu, context, method, request, security)
        return self._add_fragment(incoming, pdu, request)

    def _add_fragment(self, incoming: IncomingCall, pdu: Pdu, request: Request) -> list[RpcOutput]:
        self._incoming = None
        size = len(incoming.stub) + len(request.stub)
        if size > MAX_REQUEST_STUB_BYTES:  # MS-RPCE 3.3.3.5.4
            return self._refuse_request(incoming.call_id, request.p_cont_id, FaultStatus.ACCESS_DENIED)
        if size + self._stub_bytes > self._association.limits.stub_bytes:
            return self._refuse_request(incoming.call_id, request.p_cont_id, FaultStatus.NCA_S_SERVER_TOO_BUSY)
        incoming.stub += request.stub
        incoming.cancels += bool(pdu.pfc_flags & PfcFlags.PENDING_CANCEL)
        if not pdu.pfc_flags & PfcFlags.LAST_FRAG:
            self._incoming = incoming
            return []
        return self._accept_request(incoming)

    def _accept_request(self, incoming: IncomingCall) -> list[RpcOutput]:
        """Read the stub of a complete request."""
        context, method = incoming.context, incoming.method
        try:
            if incoming.first.alloc_hint > len(incoming.stub):
                raise StubError("alloc_hint", 16, "MS-RPCE 2.2.2.6", "the value exceeds the stub data of all fragments")
            if context.wide and incoming.order != "<":
                raise StubError(
                    "packed_drep", 4, "MS-RPCE 2.2.5", "the value is not little-endian, which NDR64 requires"
                )
            stub, padding = self._extract_stub(incoming)
            encoding = StubEncoding(context.wide, incoming.order, self._association.server.strict)
            arguments = method.read_in_parameters(stub, encoding, padding)
        except VerificationTrailerError:
            return self._refuse_request(incoming.call_id, context.p_cont_id, FaultStatus.ACCESS_DENIED)
        except StubError:
            return self._refuse_request(incoming.call_id, context.p_cont_id, FaultStatus.RPC_X_BAD_STUB_DATA)
        call = Call(self._association, incoming, arguments)
        self._calls[call.call_id] = call
        self._stub_bytes += call.stub_size
        self._get_association_group().reserved_handle_count += call.method.opens_handle
        return self._dispatch_call(call)

    def _extract_stub(self, incoming: IncomingCall) -> tuple[bytes, int]:
        """Return the stub data without a verification trailer, and the maximum size of the padding after the stub
        data.
        """
        stub = bytes(incoming.stub)
        if incoming.security is None:
            return stub, 0
        where = incoming.context, incoming.first, incoming.call_id, incoming.packed_drep
        stub, found = strip_verification_trailer(stub, *where, header_sign=incoming.security.header_sign)
        return stub, MAX_PADDING_BYTES - 1 if found else 0

    def _dispatch_call(self, call: Call) -> list[RpcOutput]:
        """Pass a call to the dispatcher, unless its context handle is missing or in use. Spec: C706 5.1.6."""
        parameter = call.method.handle
        if parameter is not None and call.method.takes_handle:
            given = call.arguments[parameter.name]
            if given is not None:
                handle = self._get_association_group().find_handle(call.method.handle_type_name, given)
                if handle is None:
                    return self.fail_call(call, FaultStatus.NCA_S_FAULT_CONTEXT_MISMATCH)
                if handle.holder is not None:
                    handle.waiting.append(call)
                    return []
                handle.holder = call
                call.handle = call.arguments[parameter.name] = handle
        call.dispatched = True
        happened: list[RpcOutput] = [CallReceived(call)]
        if call.cancelled:
            happened.append(CallCancelled(call))
        return happened

    # -- answers ------------------------------------------------------------------------------------------------

    def answer_call(self, call: Call, stub: bytes, handle: ContextHandle | None) -> list[RpcOutput]:
        """Answer a call with a response. ``handle`` is the context handle among the results of the call."""
        group = self._get_association_group()
        opened = handle if handle is not call.handle else None
        if call.handle is not None and call.method.returns_handle and handle is not call.handle:
            group.handles.pop(call.handle.uuid, None)
        if call.ended:
            return [] if opened is None else [HandleRundown(opened)]
        if opened is not None:
            group.handles[opened.uuid] = opened
        size = self._association.max_xmit_frag
        answer = build_response(call.call_id, call.context.p_cont_id, stub, call.cancels, size, call.security)
        return [*self._association.send(answer), *self._end_call(call), *self._association.close_if_drained()]

    def fail_call(self, call: Call, status: int) -> list[RpcOutput]:
        """Answer a call with a fault."""
        if call.ended:
            return []
        answer = build_fault(
            call.call_id, call.context.p_cont_id, status, executed=call.dispatched, cancels=call.cancels
        )
        return [*self._association.send(answer), *self._end_call(call), *self._association.close_if_drained()]

    def _refuse_request(self, call_id: int, p_cont_id: int, status: int) -> list[RpcOutput]:
        """Answer a request that is refused before it becomes a call."""
        return self._association.send(build_fault(call_id, p_cont_id, status, executed=False))

    # -- ends ---------------------------------------------------------------------------------------------------

    def on_co_cancel(self, pdu: Pdu) -> list[RpcOutput]:
        """Record that the client cancelled a call. Ignore the cancel if the call is already answered. Spec: C706
        12.6.4.6.
        """
        if self._incoming is not None and self._incoming.call_id == pdu.call_id:
            self._incoming.cancels += 1
        call = self._calls.get(pdu.call_id)
        if call is None:
            return []
        call.cancels += 1
        if not call.dispatched:
            return self.fail_call(call, FaultStatus.NCA_S_FAULT_CANCEL)
        return [CallCancelled(call)]

    def on_orphaned(self, pdu: Pdu) -> list[RpcOutput]:
        """Remove a call that the client abandoned. Spec: C706 12.6.4.8; MS-RPCE 3.3.1.5.10."""
        if self._incoming is not None and self._incoming.call_id == pdu.call_id:
            self._incoming = None
        call = self._calls.get(pdu.call_id)
        return [] if call is None else [*self._orphan_call(call), *self._association.close_if_drained()]

    def remove_all_calls(self) -> list[RpcOutput]:
        """Remove every call, because the connection is lost."""
        self._incoming = None
        happened: list[RpcOutput] = []
        for call in list(self._calls.values()):
            happened += self._orphan_call(call)
        return happened

    def _orphan_call(self, call: Call) -> list[RpcOutput]:
        orphaned: list[RpcOutput] = [CallOrphaned(call)] if call.dispatched else []
        return orphaned + self._end_call(call)

    def _end_call(self, call: Call) -> list[RpcOutput]:
        """Remove a finished call, and start the next call that waits until the context handle of the finished call is
        free.
        """
        call.ended = True
        del self._calls[call.call_id]
        self._stub_bytes -= call.stub_size
        self._get_association_group().reserved_handle_count -= call.method.opens_handle
        handle = call.handle
        if handle is None:
            return []
        handle.holder = None
        happened: list[RpcOutput] = []
        while handle.waiting and handle.holder is None:
            following = handle.waiting.popleft()
            if not (following.ended or following.association.is_closed):
                happened += following.association.calls._dispatch_call(following)
        return happened

    def _get_association_group(self) -> AssociationGroup:
        group = self._association.group
        assert group is not None
        return group
