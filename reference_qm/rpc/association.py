"""Implements the server's side of an association, without I/O. Spec: MS-RPCE 3.3.3; C706 9.3, 11, 12.6."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

from reference_qm.rpc.answers import build_fault
from reference_qm.rpc.bind_bodies import AlterContext, AlterContextResp, Bind, BindAck, BindNak
from reference_qm.rpc.bodies import Body, Shutdown
from reference_qm.rpc.contexts import PresentationContext, negotiate_contexts
from reference_qm.rpc.events import CloseAssociation, RpcOutput, SendBytes
from reference_qm.rpc.header import RPC_VERS, WHOLE_PDU_FLAGS, Header, PacketType, PfcFlags, SecTrailer
from reference_qm.rpc.limits import MUST_RECV_FRAG_SIZE
from reference_qm.rpc.pdu import Pdu, PduFramer
from reference_qm.rpc.pending import PendingCalls
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.rpc.securing import AssociationSecurity, AuthenticationRefused
from reference_qm.rpc.status import FaultStatus, RejectReason
from reference_qm.surface.clock import Now

if TYPE_CHECKING:
    from reference_qm.rpc.groups import AssociationGroup
    from reference_qm.rpc.service import RpcService


class AssociationState(Enum):
    """The states of a connection. ``AssociationSecurity`` contains the state of the authentication. Spec: MS-RPCE
    3.3.3.
    """

    ESTABLISHED = "ESTABLISHED"
    CONTEXT_NEGOTIATED = "CONTEXT_NEGOTIATED"
    CLOSED = "CLOSED"


class Association:
    """The association of one client. Its methods take received bytes and return outputs in order.

    ``remote_host``: the host of the client, as text. ``sec_addr``: the port that the client connected to, as text.
    """

    def __init__(self, server: RpcService, remote_host: str, sec_addr: str, now: Now) -> None:
        self.server = server
        self.groups = server.groups
        self.limits = server.limits
        self.remote_host = remote_host
        self.sec_addr = sec_addr
        self.state = AssociationState.ESTABLISHED
        self.group: AssociationGroup | None = None
        self.contexts: dict[int, PresentationContext] = {}
        self.multiplexed = False
        self.max_xmit_frag = MUST_RECV_FRAG_SIZE
        self.security = AssociationSecurity(server.security, server.limits)
        self.calls = PendingCalls(self)
        self._framer = PduFramer(self.limits.fragment_bytes)
        self._draining = False
        self._unfinished_since_ms: int | None = now.monotonic_ms

    @property
    def is_closed(self) -> bool:
        """Whether the association has ended."""
        return self.state is AssociationState.CLOSED

    @property
    def unfinished_bytes(self) -> int:
        """The number of received bytes that belong to an incomplete PDU or request."""
        return 0 if self.is_closed else self._framer.pending_bytes + self.calls.received_stub_bytes

    # -- inputs of the connection -------------------------------------------------------------------------------

    def receive_bytes(self, data: bytes, now: Now) -> list[RpcOutput]:
        """Process received bytes, which may contain any part of a PDU."""
        return [] if self.is_closed else self._receive_all_pdus(data, now)

    def on_connection_lost(self) -> list[RpcOutput]:
        """Mark the unanswered calls of a lost connection as orphaned. If this was the last connection of the
        association group, also run down the open context handles of the group.
        """
        return self._end_association()

    def next_due(self) -> int | None:
        """Return the time at which ``handle_timer`` must be called next, in ms of the monotonic clock."""
        return (
            None if self._unfinished_since_ms is None else self._unfinished_since_ms + self.limits.response_timeout_ms
        )

    def handle_timer(self, now: Now) -> list[RpcOutput]:
        """Close an association whose client did not complete a bind, a PDU or a request in time."""
        due = self.next_due()
        if self.is_closed or due is None or now.monotonic_ms < due:
            return []
        return self.close(f"a bind, PDU or request was incomplete for {self.limits.response_timeout_ms} ms")

    def shut_down(self) -> list[RpcOutput]:
        """Ask the client to end the association, refuse further calls, and close the connection after the last
        answer.

        Spec: C706 12.6.4.11; MS-RPCE 3.3.3.4.2.
        """
        if self.is_closed:
            return []
        self._draining = True
        asked = [] if self.state is AssociationState.ESTABLISHED else self.send(Pdu(Shutdown(), 0))
        return asked + self.close_if_drained()

    # -- methods for calls --------------------------------------------------------------------------------------

    def send(self, pdu: Pdu | bytes) -> list[RpcOutput]:
        """Return the effect that sends a PDU, or the bytes of several PDUs."""
        return [SendBytes(self, pdu if isinstance(pdu, bytes) else pdu.build())]

    def close_if_drained(self) -> list[RpcOutput]:
        """Close an association that is being shut down if all its calls are answered."""
        if self._draining and not self.calls:
            return self.close("shut down")
        return []

    @property
    def is_shutting_down(self) -> bool:
        """Whether the association is being shut down: it finishes its current calls, but refuses new calls."""
        return self._draining

    def close(self, reason: str) -> list[RpcOutput]:
        """Close the connection to the client, because it violates the protocol or the association has to end."""
        return [CloseAssociation(self, reason), *self._end_association()]

    def refuse_protocol_violation(self, pdu: Pdu, reason: str) -> list[RpcOutput]:
        """Answer a request that violates the protocol, and close the connection. Spec: MS-RPCE 3.3.3.5.7."""
        return self.send_fault_and_close(pdu.call_id, FaultStatus.NCA_S_PROTO_ERROR, reason)

    def send_fault_and_close(self, call_id: int, status: int, reason: str) -> list[RpcOutput]:
        """Send a fault that ends the association."""
        return [*self.send(build_fault(call_id, 0, status, executed=False)), *self.close(reason)]

    # -- PDUs ---------------------------------------------------------------------------------------------------

    def _receive_all_pdus(self, data: bytes, now: Now) -> list[RpcOutput]:
        happened: list[RpcOutput] = []
        whole = 0
        try:
            for wire in self._framer.feed(data):
                whole += 1
                happened += self._receive_pdu(wire)
                if self.is_closed:
                    return happened
        except PduError as error:
            return happened + self.close(str(error))
        self._note_unfinished_input(now, progress=whole > 0)
        return happened

    def _receive_pdu(self, wire: bytes) -> list[RpcOutput]:
        header = Header.parse(wire)
        try:
            pdu = Pdu.parse(wire)
        except PduError as error:
            return self._refuse_pdu(header, str(error))
        handler = _PDU_HANDLERS.get((self.state, pdu.body.PTYPE))
        if handler is None:
            return self._refuse_pdu(
                header, f"{pdu.body.PTYPE.name} is not allowed in the state {self.state.value} (MS-RPCE 3.3.3)"
            )
        return handler(self, pdu, wire)

    def _refuse_pdu(self, header: Header, reason: str) -> list[RpcOutput]:
        """Answer a malformed or unexpected PDU according to its packet type, and close the connection."""
        if header.ptype == PacketType.BIND:
            return self._reject_bind(header.call_id, RejectReason.PROTOCOL_VERSION_NOT_SUPPORTED, reason)
        if header.ptype in (PacketType.REQUEST, PacketType.ALTER_CONTEXT) and header.rpc_vers == RPC_VERS:
            return self.send_fault_and_close(header.call_id, FaultStatus.NCA_S_PROTO_ERROR, reason)
        return self.close(reason)

    def _reject_bind(self, call_id: int, why: RejectReason, reason: str) -> list[RpcOutput]:
        return [*self.send(Pdu(BindNak(why), call_id)), *self.close(reason)]

    def _on_bind(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        bind = pdu.body
        assert isinstance(bind, Bind)
        try:
            self.security.check_authentication_type(pdu.sec_trailer)
        except AuthenticationRefused as refused:
            return self._reject_bind(pdu.call_id, refused.reject, str(refused))
        if min(bind.max_xmit_frag, bind.max_recv_frag) < MUST_RECV_FRAG_SIZE:
            why = f"the fragment size is below {MUST_RECV_FRAG_SIZE} bytes (C706 12.6.3.1)"
            return self._reject_bind(pdu.call_id, RejectReason.PROTOCOL_VERSION_NOT_SUPPORTED, why)
        if (fault_found := self._find_context_fault(pdu, bind)) is not None:
            return self._reject_bind(pdu.call_id, *fault_found)
        try:
            leg = self.security.process_leg_token(pdu)
        except AuthenticationRefused as refused:
            return self._reject_bind(pdu.call_id, refused.reject, str(refused))
        group = self.groups.add_association(self, bind.assoc_group_id, self.remote_host)
        if group is None:
            why = f"{self.remote_host} has no association group {bind.assoc_group_id:#x} (MS-RPCE 3.3.1.5.7)"
            return self._reject_bind(pdu.call_id, RejectReason.NOT_SPECIFIED, why)
        self.group = group
        self.state = AssociationState.CONTEXT_NEGOTIATED
        self.multiplexed = bool(pdu.pfc_flags & PfcFlags.CONC_MPX)
        self.max_xmit_frag = min(bind.max_recv_frag, self.limits.fragment_bytes)
        self._framer.longest = min(bind.max_xmit_frag, self.limits.fragment_bytes)
        return self._answer_bind(pdu, bind, BindAck, self.sec_addr.encode() + b"\0", leg)

    def _on_alter_context(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        alter = pdu.body
        assert isinstance(alter, AlterContext)
        try:
            self.security.check_authentication_type(pdu.sec_trailer)
        except AuthenticationRefused as refused:
            return self.send_fault_and_close(pdu.call_id, refused.status, str(refused))
        if (fault_found := self._find_context_fault(pdu, alter)) is not None:
            reject, why = fault_found
            if reject is RejectReason.LOCAL_LIMIT_EXCEEDED:
                return self._reject_bind(pdu.call_id, reject, why)
            return self.refuse_protocol_violation(pdu, why)
        try:
            leg = self.security.process_leg_token(pdu)
        except AuthenticationRefused as refused:
            return self.send_fault_and_close(pdu.call_id, refused.status, str(refused))
        return self._answer_bind(pdu, alter, AlterContextResp, b"", leg)

    def _on_auth3(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        """Process the last token of an authentication. The client expects no answer to this token. Spec: MS-RPCE
        2.2.2.10, 3.3.1.5.2.1.
        """
        if pdu.sec_trailer is None:
            return self.close("an rpc_auth_3 was received without an authentication (MS-RPCE 2.2.2.10)")
        try:
            self.security.process_last_leg_token(pdu.sec_trailer)
        except AuthenticationRefused as refused:
            return self.close(str(refused))
        return []

    def _find_context_fault(self, pdu: Pdu, bind: Bind) -> tuple[RejectReason, str] | None:
        """Return the reason why the proposed contexts are invalid, or None if they are valid."""
        identifiers = [element.p_cont_id for element in bind.p_context_elem]
        if not identifiers or len(set(identifiers)) != len(identifiers):
            return (
                RejectReason.PROTOCOL_VERSION_NOT_SUPPORTED,
                "no context is proposed, or two contexts have the same p_cont_id (C706 12.6)",
            )
        if pdu.pfc_flags & WHOLE_PDU_FLAGS != WHOLE_PDU_FLAGS:
            return (
                RejectReason.PROTOCOL_VERSION_NOT_SUPPORTED,
                "the PDU with the proposed contexts is split into fragments (C706 12.6)",
            )
        if len(self.contexts.keys() | set(identifiers)) > self.limits.contexts:
            return (
                RejectReason.LOCAL_LIMIT_EXCEEDED,
                f"more than {self.limits.contexts} contexts are proposed (MS-RPCE 3.3.3.5.5)",
            )
        for element in bind.p_context_elem:
            known = self.contexts.get(element.p_cont_id)
            if known is not None and not known.interface.syntax.serves_client_syntax(element.abstract_syntax):
                why = f"context {element.p_cont_id} is already negotiated for {known.interface.name} (C706 12.6)"
                return RejectReason.PROTOCOL_VERSION_NOT_SUPPORTED, why
        return None

    def _answer_bind(
        self, pdu: Pdu, bind: Bind, kind: type[BindAck], sec_addr: bytes, leg: SecTrailer | None
    ) -> list[RpcOutput]:
        assert self.group is not None
        results, accepted = negotiate_contexts(bind.p_context_elem, self.server.interfaces, self.server.preferred)
        self.contexts.update({context.p_cont_id: context for context in accepted})
        body: Body = kind(self.max_xmit_frag, self._framer.longest, self.group.identifier, sec_addr, results)
        flags = WHOLE_PDU_FLAGS | (pdu.pfc_flags & PfcFlags.CONC_MPX)
        if self.security.header_sign and pdu.sec_trailer is not None:
            flags |= pdu.pfc_flags & PfcFlags.SUPPORT_HEADER_SIGN
        return self.send(Pdu(body, pdu.call_id, flags, sec_trailer=leg))

    def _on_request(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        try:
            opened, security = self.security.unprotect_call_pdu(wire, pdu)
        except AuthenticationRefused as refused:
            return self.send_fault_and_close(pdu.call_id, refused.status, str(refused))
        return self.calls.on_request(opened, security)

    def _on_co_cancel(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        return self._verify_pdu_signature(pdu, wire) or self.calls.on_co_cancel(pdu)

    def _on_orphaned(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        return self._verify_pdu_signature(pdu, wire) or self.calls.on_orphaned(pdu)

    def _verify_pdu_signature(self, pdu: Pdu, wire: bytes) -> list[RpcOutput]:
        """Close the connection if the signature of a PDU is wrong.

        Spec: C706 12.6.4.6, 12.6.4.8: the trailer is optional in co_cancel and orphaned PDUs.
        """
        if pdu.sec_trailer is None:
            return []
        try:
            self.security.unprotect_call_pdu(wire, pdu)
        except AuthenticationRefused as refused:
            return self.close(str(refused))
        return []

    # -- ends ---------------------------------------------------------------------------------------------------

    def _note_unfinished_input(self, now: Now, *, progress: bool) -> None:
        """Store the time at which the client last made progress with an incomplete bind, PDU or request. Store None if
        nothing is incomplete.
        """
        owes = self.state is AssociationState.ESTABLISHED or self.security.is_authentication_unfinished
        owes = owes or bool(self._framer.pending_bytes) or self.calls.is_receiving_fragments
        if not owes:
            self._unfinished_since_ms = None
        elif self._unfinished_since_ms is None or progress:
            self._unfinished_since_ms = now.monotonic_ms

    def _end_association(self) -> list[RpcOutput]:
        if self.is_closed:
            return []
        self.state = AssociationState.CLOSED
        self._unfinished_since_ms = None
        happened = self.calls.remove_all_calls()
        if self.group is not None:
            happened += self.groups.remove_association(self, self.group)
        return happened


_PduHandler = Callable[[Association, Pdu, bytes], list[RpcOutput]]
_PDU_HANDLERS: Mapping[tuple[AssociationState, PacketType], _PduHandler] = MappingProxyType(
    {
        (AssociationState.ESTABLISHED, PacketType.BIND): Association._on_bind,
        (AssociationState.CONTEXT_NEGOTIATED, PacketType.ALTER_CONTEXT): Association._on_alter_context,
        (AssociationState.CONTEXT_NEGOTIATED, PacketType.AUTH3): Association._on_auth3,
        (AssociationState.CONTEXT_NEGOTIATED, PacketType.REQUEST): Association._on_request,
        (AssociationState.CONTEXT_NEGOTIATED, PacketType.CO_CANCEL): Association._on_co_cancel,
        (AssociationState.CONTEXT_NEGOTIATED, PacketType.ORPHANED): Association._on_orphaned,
    }
)
"""The PDUs that a server accepts in each state. Any other PDU violates the protocol (MS-RPCE 3.3.3)."""
