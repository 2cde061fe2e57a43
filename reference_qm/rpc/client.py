"""Implements the client's side of an association, without I/O. Spec: MS-RPCE 3.3.2; C706 9.3, 12.6.

Every method returns its outputs in order: bytes to send, and the results of the association and its calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc.authentication import PROVIDERS_WITH_CLIENT_LAST_TOKEN, AuthLevel, ClientSecurity, SecurityError
from reference_qm.rpc.bind_bodies import (
    AlterContext,
    AlterContextResp,
    Bind,
    BindAck,
    BindNak,
    PresentationContextElement,
)
from reference_qm.rpc.bodies import Auth3, Body, CoCancel, Fault, Orphaned, Request, Response, Shutdown
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags, SecTrailer
from reference_qm.rpc.interfaces.method import Interface
from reference_qm.rpc.interfaces.qm2qm import MAX_BUFFER_SIZE
from reference_qm.rpc.limits import MUST_RECV_FRAG_SIZE, AssociationLimits
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.outgoing import (
    AssociationBound,
    AssociationEnded,
    CallFailed,
    CallReturned,
    ClientOutput,
    OutgoingCall,
    SendPdusToServer,
)
from reference_qm.rpc.pdu import Pdu, PduFramer
from reference_qm.rpc.protection import NegotiatedSecurity, begin_security_context, build_call_fragments
from reference_qm.rpc.rpc_errors import PduError, StubError
from reference_qm.rpc.status import ProposalResult
from reference_qm.rpc.syntaxes import NDR, NDR64

TRANSFER_SYNTAXES = (NDR, NDR64)
"""The transfer syntaxes that the client proposes for each interface. For each of them, the client proposes a separate
presentation context (MS-MQQP 2.2).
"""
MAX_ANSWER_BYTES = MAX_BUFFER_SIZE + 0x1000
"""The maximum number of stub bytes in an answer, which is sufficient for the largest message buffer and the other
parameters.
"""


class BindingState(Enum):
    """The state of the client's side of a connection. Spec: C706 11 (CO_CLIENT)."""

    BINDING = "BINDING"
    AUTHENTICATING = "AUTHENTICATING"
    """The association is bound, but its authentication is not complete (MS-RPCE 3.3.1.5.2.1)."""
    BOUND = "BOUND"
    ENDED = "ENDED"


class ClientAssociation:
    """The client's side of an association. It makes calls over one connection, and makes several calls at a time if
    the server multiplexes.

    ``security``: the authentication of the client, or None for the authentication level none.
    """

    def __init__(
        self,
        interfaces: Sequence[Interface],
        limits: AssociationLimits | None = None,
        security: ClientSecurity | None = None,
    ) -> None:
        self.interfaces = tuple(interfaces)
        self._security = None if security is None else begin_security_context(security)
        self.limits = limits or AssociationLimits()
        self.state = BindingState.BINDING
        self.multiplexed = False
        self._shutting_down = False
        self._contexts: dict[str, tuple[int, bool]] = {}
        """The accepted context of each interface: its p_cont_id, and whether its transfer syntax is NDR64."""
        self._calls: dict[int, OutgoingCall] = {}
        self._waiting: deque[OutgoingCall] = deque()
        self._last_call_id = 1
        self._max_xmit_frag = MUST_RECV_FRAG_SIZE
        self._framer = PduFramer(self.limits.fragment_bytes)
        self._proposed = Bind(0, 0, 0, ())

    # -- requests of the caller ---------------------------------------------------------------------------------

    def bind(self) -> list[ClientOutput]:
        """Propose every interface in every transfer syntax. Spec: C706 12.6.4.3; MS-RPCE 3.3.1.5.6."""
        proposals = tuple(
            PresentationContextElement(len(TRANSFER_SYNTAXES) * place + number, one.syntax, (syntax,))
            for place, one in enumerate(self.interfaces)
            for number, syntax in enumerate(TRANSFER_SYNTAXES)
        )
        size = self.limits.fragment_bytes
        self._proposed = Bind(size, size, 0, proposals)
        try:
            leg = (
                None
                if self._security is None
                else self._security.build_trailer(self._security.context.process_token(b""))
            )
        except SecurityError as error:
            return self.fail_all_calls(f"the authentication cannot begin: {error}")
        flags = WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX
        if self._security is not None and self._security.level >= AuthLevel.PKT_INTEGRITY:
            flags |= PfcFlags.SUPPORT_HEADER_SIGN
        return [SendPdusToServer(Pdu(self._proposed, self._last_call_id, flags, sec_trailer=leg).build())]

    def begin_call(self, call: OutgoingCall) -> list[ClientOutput]:
        """Start a call. Raise MisuseError if the association is not bound yet."""
        if self.state in (BindingState.BINDING, BindingState.AUTHENTICATING):
            raise MisuseError(f"{call.method.name} was called before the association was bound")
        if self.has_ended or self._shutting_down:
            return [CallFailed(call, "the association has ended")]
        if call.interface.name not in self._contexts:
            return [
                CallFailed(call, f"the server has no interface {call.interface.name} in NDR or NDR64 (C706 12.6.3.1)")
            ]
        if len(self._calls) + len(self._waiting) >= self.limits.pending_calls:
            return [CallFailed(call, f"{self.limits.pending_calls} calls are already waiting for this server")]
        self._waiting.append(call)
        return self._send_waiting_calls()

    def cancel_call(self, call: OutgoingCall) -> list[ClientOutput]:
        """End a call at once with a cancel whose timeout is zero. Spec: C706 6.1.8, 12.6.4.6, 12.6.4.8.

        The client sends a co_cancel PDU, and also an orphaned PDU, because it no longer waits for an answer.
        """
        if call in self._waiting:
            self._waiting.remove(call)
            return []
        if self._calls.pop(call.call_id, None) is None:
            return []
        call.cancelled = True
        ended = [SendPdusToServer(Pdu(body, call.call_id).build()) for body in (CoCancel(), Orphaned())]
        return [*ended, *self._send_waiting_calls()]

    # -- inputs of the connection -------------------------------------------------------------------------------

    def receive_bytes(self, data: bytes) -> list[ClientOutput]:
        """Process received bytes, which may contain any part of a PDU."""
        return [] if self.has_ended else self._receive_all_pdus(data)

    def _receive_all_pdus(self, data: bytes) -> list[ClientOutput]:
        happened: list[ClientOutput] = []
        try:
            for wire in self._framer.feed(data):
                happened += self._receive_pdu(self._verify_response(wire, Pdu.parse(wire)))
                if self.has_ended:
                    break
        except PduError as error:
            happened += self.fail_all_calls(f"the server sent bytes that are not a PDU: {error}")
        except SecurityError as error:
            happened += self.fail_all_calls(
                f"the protection of a PDU of the server is wrong: {error} (MS-RPCE 3.3.1.5.2.2)"
            )
        return happened

    def fail_all_calls(self, reason: str) -> list[ClientOutput]:
        """Fail every call, because the connection has ended or has to end."""
        if self.has_ended:
            return []
        self.state = BindingState.ENDED
        left = [*self._calls.values(), *self._waiting]
        self._calls.clear()
        self._waiting.clear()
        return [*(CallFailed(call, reason) for call in left), AssociationEnded(reason)]

    @property
    def has_ended(self) -> bool:
        """Whether the association has ended."""
        return self.state is BindingState.ENDED

    @property
    def pending_call_count(self) -> int:
        """The number of unanswered calls."""
        return len(self._calls) + len(self._waiting)

    # -- PDUs ---------------------------------------------------------------------------------------------------

    def _verify_response(self, wire: bytes, pdu: Pdu) -> Pdu:
        """Return a response after its protection is checked. Raise SecurityError if the response does not have the
        negotiated protection.
        """
        agreed = self._security
        if agreed is None or not agreed.level.signs_each_pdu or not isinstance(pdu.body, Response | Fault):
            return pdu
        if pdu.sec_trailer is None:
            if isinstance(pdu.body, Fault):  # servers send these PDUs unprotected
                return pdu
            raise SecurityError(f"a response has no token, which the level {agreed.level.name} requires")
        if not agreed.owns_trailer(pdu.sec_trailer) or not agreed.context.is_complete:
            raise SecurityError("a response has a security context that was not negotiated")
        return agreed.unprotect_pdu(wire)

    def _receive_pdu(self, pdu: Pdu) -> list[ClientOutput]:
        handler = _PDU_HANDLERS.get((self.state, type(pdu.body)))
        if handler is None:
            return self.fail_all_calls(
                f"the server sent {pdu.body.PTYPE.name} in the state {self.state.value} (C706 11)"
            )
        return handler(self, pdu)

    def _on_bind_ack(self, pdu: Pdu) -> list[ClientOutput]:
        ack = pdu.body
        assert isinstance(ack, BindAck)
        if len(ack.p_result_list) != len(TRANSFER_SYNTAXES) * len(self.interfaces):
            return self.fail_all_calls(
                f"the server sent {len(ack.p_result_list)} answers instead of one for each proposal (C706 12.6.3.1)"
            )
        for identifier, result in enumerate(ack.p_result_list):
            if result.result == ProposalResult.ACCEPTANCE:
                place, number = divmod(identifier, len(TRANSFER_SYNTAXES))
                self._contexts[self.interfaces[place].name] = (identifier, TRANSFER_SYNTAXES[number] is NDR64)
        if not self._contexts:
            return self.fail_all_calls("the server offers none of the interfaces in NDR or NDR64 (C706 12.6.3.1)")
        self.multiplexed = bool(pdu.pfc_flags & PfcFlags.CONC_MPX)
        self._max_xmit_frag = max(MUST_RECV_FRAG_SIZE, min(ack.max_recv_frag, self.limits.fragment_bytes))
        if self._security is not None:
            self._security.header_sign = bool(pdu.pfc_flags & PfcFlags.SUPPORT_HEADER_SIGN)
        return self._on_authentication_leg(pdu)

    def _on_authentication_leg(self, pdu: Pdu) -> list[ClientOutput]:
        """Process the token that the server sent during the authentication, and send the next token. Spec: MS-RPCE
        3.3.1.5.2.1.
        """
        agreed, trailer = self._security, pdu.sec_trailer
        if agreed is None:
            self.state = BindingState.BOUND
            return [AssociationBound()]
        if trailer is not None and not agreed.owns_trailer(trailer):
            return self.fail_all_calls("the server answered for a different security context (MS-RPCE 3.3.1.5.2.1)")
        agreed.authentication_leg_count += 1
        try:
            if agreed.authentication_leg_count > self.limits.auth_legs:
                raise SecurityError(f"the authentication has more than {self.limits.auth_legs} tokens")
            token = b"" if trailer is None and agreed.context.is_complete else self._process_token(agreed, trailer)
        except SecurityError as error:
            return self.fail_all_calls(f"the authentication failed: {error} (MS-RPCE 3.3.1.5.2.1)")
        return self._send_authentication_leg(agreed, token)

    def _process_token(self, agreed: NegotiatedSecurity, trailer: SecTrailer | None) -> bytes:
        if trailer is None:
            raise SecurityError("the server sent no token: it does not authenticate")
        if len(trailer.token) > self.limits.token_bytes:
            raise SecurityError(f"the token is too long: {len(trailer.token)} bytes")
        return agreed.context.process_token(trailer.token)

    def _send_authentication_leg(self, agreed: NegotiatedSecurity, token: bytes) -> list[ClientOutput]:
        complete = agreed.context.is_complete
        if not token and not complete:
            return self.fail_all_calls(
                "the authentication failed: the last token did not complete the context (MS-RPCE 3.3.1.5.2.1)"
            )
        if token and not (complete and agreed.auth_type in PROVIDERS_WITH_CLIENT_LAST_TOKEN):
            self.state = BindingState.AUTHENTICATING
            proposed = self._proposed
            alter = AlterContext(
                proposed.max_xmit_frag, proposed.max_recv_frag, proposed.assoc_group_id, proposed.p_context_elem
            )
            return [SendPdusToServer(Pdu(alter, self._last_call_id, sec_trailer=agreed.build_trailer(token)).build())]
        last = (
            [SendPdusToServer(Pdu(Auth3(), self._last_call_id, sec_trailer=agreed.build_trailer(token)).build())]
            if token
            else []
        )
        self.state = BindingState.BOUND
        return [*last, AssociationBound()]

    def _on_bind_nak(self, pdu: Pdu) -> list[ClientOutput]:
        nak = pdu.body
        assert isinstance(nak, BindNak)
        return self.fail_all_calls(
            f"the server refused the association: reason {nak.provider_reject_reason} (C706 12.6.4.5)"
        )

    def _on_authentication_refusal(self, pdu: Pdu) -> list[ClientOutput]:
        fault = pdu.body
        assert isinstance(fault, Fault)
        return self.fail_all_calls(
            f"the server refused the authentication: status {fault.status:#010x} (MS-RPCE 3.3.1.5.2.1)"
        )

    def _on_response(self, pdu: Pdu) -> list[ClientOutput]:
        response = pdu.body
        assert isinstance(response, Response)
        call = self._calls.get(pdu.call_id)
        if call is None:
            return self._ignore_unknown_call(pdu)
        if bool(pdu.pfc_flags & PfcFlags.FIRST_FRAG) is not (not call.stub):
            return self.fail_all_calls(f"fragments of call {pdu.call_id} are out of order (C706 12.6.4.10)")
        call.stub += response.stub
        if len(call.stub) > MAX_ANSWER_BYTES:
            return self.fail_all_calls(
                f"call {pdu.call_id} is answered with more than {MAX_ANSWER_BYTES} bytes (MS-MQQP 2.2.2.1)"
            )
        if not pdu.pfc_flags & PfcFlags.LAST_FRAG:
            if not call.stub:
                return self.fail_all_calls(
                    f"a fragment of call {pdu.call_id} before the last is empty (C706 12.6.4.10)"
                )
            return []
        del self._calls[pdu.call_id]
        wide = self._contexts[call.interface.name][1]
        try:
            results = call.method.read_out_parameters(bytes(call.stub), StubEncoding(wide, pdu.order), call.arguments)
        except StubError as error:
            return [
                CallFailed(call, f"{call.method.name} was answered with an invalid stub: {error}"),
                *self._send_waiting_calls(),
            ]
        return [CallReturned(call, results), *self._send_waiting_calls()]

    def _on_fault(self, pdu: Pdu) -> list[ClientOutput]:
        fault = pdu.body
        assert isinstance(fault, Fault)
        call = self._calls.pop(pdu.call_id, None)
        if call is None:
            return self._ignore_unknown_call(pdu)
        why = f"{call.method.name} is answered with a fault, status {fault.status:#010x}"
        return [CallFailed(call, why, fault.status), *self._send_waiting_calls()]

    def _ignore_unknown_call(self, pdu: Pdu) -> list[ClientOutput]:
        """Ignore an answer to a call that was cancelled. End the association after an answer to a call that was never
        made.
        """
        if 1 < pdu.call_id <= self._last_call_id:
            return []
        return self.fail_all_calls(f"the server answered call {pdu.call_id}, which was never made (C706 12.6.3.1)")

    def _on_shutdown(self, pdu: Pdu) -> list[ClientOutput]:
        """End the association when no call is pending, as the server requests. Spec: C706 12.6.4.11."""
        self._shutting_down = True
        return self._send_waiting_calls()

    # -- requests -----------------------------------------------------------------------------------------------

    def _send_waiting_calls(self) -> list[ClientOutput]:
        sent: list[ClientOutput] = []
        while self._waiting and (self.multiplexed or not self._calls):
            sent.append(SendPdusToServer(self._build_request(self._waiting.popleft())))
        if self._shutting_down and not self._calls:
            sent += self.fail_all_calls("the server shuts down (C706 12.6.4.11)")
        return sent

    def _build_request(self, call: OutgoingCall) -> bytes:
        """Return the PDUs of a request, which has as many fragments as necessary. Spec: C706 12.6.4.9."""
        self._last_call_id += 1
        call.call_id = self._last_call_id
        self._calls[call.call_id] = call
        context, wide = self._contexts[call.interface.name]
        stub = call.method.build_in_parameters(call.arguments, StubEncoding(wide))

        def make_request_pdu(part: bytes, rest: int, flags: int) -> Pdu:
            return Pdu(Request(context, call.opnum, part, rest), call.call_id, flags)

        return build_call_fragments(stub, self._max_xmit_frag, self._security, make_request_pdu)


_PDU_HANDLERS: Mapping[tuple[BindingState, type[Body]], Callable[[ClientAssociation, Pdu], list[ClientOutput]]] = (
    MappingProxyType(
        {
            (BindingState.BINDING, BindAck): ClientAssociation._on_bind_ack,
            (BindingState.BINDING, BindNak): ClientAssociation._on_bind_nak,
            (BindingState.AUTHENTICATING, AlterContextResp): ClientAssociation._on_authentication_leg,
            (BindingState.AUTHENTICATING, Fault): ClientAssociation._on_authentication_refusal,
            (BindingState.BOUND, Response): ClientAssociation._on_response,
            (BindingState.BOUND, Fault): ClientAssociation._on_fault,
            (BindingState.BOUND, Shutdown): ClientAssociation._on_shutdown,
        }
    )
)
"""The PDUs that a server may send in each state. The client ends the association after any other PDU."""


def find_method(interface: Interface, name: str) -> int:
    """Return the opnum of a method. Raise MisuseError for an unknown name."""
    for opnum, method in interface.methods.items():
        if method.name == name:
            return opnum
    raise MisuseError(f"{interface.name} has no method {name}")


def build_outgoing_call(interface: Interface, name: str, arguments: Mapping[str, Any]) -> OutgoingCall:
    """Build a call from the name of its method."""
    return OutgoingCall(interface, find_method(interface, name), arguments)
