"""The SUT's counterpart as a DCE/RPC server, which receives calls from the SUT and answers them as the check defines.
The server is written from the specifications with scapy's packets, independently of ``reference_qm.rpc``. Spec: C706
12; MS-RPCE 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.capture.recorder import MALFORMED_PACKET_KIND, Frame
from harness.environment import Stream, StreamSink, TcpListener
from harness.peer.conversation import RawConversation
from harness.peer.rpc_protection import SecurityContextOfConnection, accept_protection
from harness.wire.rpc import (
    ACCEPTANCE_RESULT,
    CONCURRENT_MULTIPLEXING_FLAG,
    FIRST_FRAGMENT_FLAG,
    LAST_FRAGMENT_FLAG,
    MAX_FRAGMENT_BYTES,
    MAX_STUB_BYTES,
    NDR,
    NDR64,
    PROVIDER_REJECTION_RESULT,
    QM2QM,
    QMCOMM,
    WHOLE_FRAGMENT_FLAGS,
    BindOutcome,
    Proposal,
    Syntax,
    bind_nak,
    build_bind_ack,
    fault,
    list_bind_proposals,
    read_call_id,
    read_flags,
)
from harness.wire.rpc_fragments import Fragment, build_response_fragments, parse_fragment
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from harness.wire.rpc_qmcomm import QMCOMM_OPERATIONS
from harness.wire.rpc_stub import Operation
from harness.wire.rpc_trailer import HEADER_SIGN_FLAG, append_trailer, read_trailer
from harness.wire.wire_error import WireError
from reference_qm.rpc.authentication import SecurityError
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from harness.peer.peer import Peer

_OPERATION_BY_INTERFACE_AND_OPNUM: dict[tuple[Syntax, int], Operation] = {
    (one.interface, one.opnum): one for one in (*QM2QM_OPERATIONS.values(), *QMCOMM_OPERATIONS.values())
}
SERVED_INTERFACES = (QM2QM, QMCOMM)
ASSOC_GROUP_ID = 0x6D71
"""The assoc_group_id of every association. One value is enough, because clients do not join an association group."""
NOT_SPECIFIED_REASON, ABSTRACT_SYNTAX_REASON, TRANSFER_SYNTAXES_REASON = range(3)
"""Reasons for the rejection of a bind (p_provider_reason_t). Spec: C706 12.6.3.1."""
OPNUM_OUT_OF_RANGE_FAULT_STATUS = 0x1C010002
"""The fault status nca_s_op_rng_error, which means that the interface has no operation with the requested number.
"""
RPC_ACCESS_DENIED_STATUS = 5
"""The fault status for a request that is too long (MS-RPCE 3.3.3.5.4) or whose protection is invalid."""
AUTHENTICATION_TYPE_NAK_REASON, CHECKSUM_NAK_REASON = 8, 9
"""Reasons for the rejection of a bind with authentication (MS-RPCE 2.2.2.5)."""


class ServedPresentationContext(NamedTuple):
    """A presentation context that the server accepted. ``wide``: whether stubs in this context are in NDR64."""

    interface: Syntax
    wide: bool


@dataclass(eq=False)
class ServedCall:
    """A call from the SUT.

    ``frames``: the fragments of the request. ``decoded_request``: the [in] parameters, a scapy packet. ``malformed``:
    the reason why the stub is invalid; if there is a reason, ``decoded_request`` is None.
    """

    association: ServedAssociation
    call_id: int
    p_cont_id: int
    operation: Operation
    wide: bool
    decoded_request: Any = None
    frames: list[Frame] = field(default_factory=list)
    malformed: str | None = None
    answered: list[Frame] = field(default_factory=list)
    frames_of_cancel_pdus: list[Frame] = field(default_factory=list)
    """The co_cancel and orphaned PDUs that the SUT sent for this call."""
    received_stub_bytes: bytearray = field(default_factory=bytearray, repr=False)

    @property
    def name(self) -> str:
        """The name of the called method."""
        return self.operation.name

    @property
    def port(self) -> int:
        """The port on which the call arrived."""
        return self.association.port

    @property
    def evidence(self) -> list[Frame]:
        """Return the packets that show the call: the first fragment of the request, and the first fragment of the
        answer.
        """
        return [*self.frames[:1], *self.answered[:1]]

    def respond(self, **results: Any) -> None:
        """Answer the call with a response. Omitted results are zero or NULL."""
        stub = self.operation.build_response(self.wide, **results)
        for part in self.association.protect_response(self.call_id, self.p_cont_id, stub):
            self.answered.append(self.association.send(part))

    def fault(self, status: int) -> None:
        """Answer the call with a fault PDU."""
        self.answered.append(self.association.send(fault(self.call_id, self.p_cont_id, status)))


AnswerServedCall = Callable[[ServedCall], None]
"""The type of functions that answer a call, or deliberately do not answer it."""


class ServedAssociation(RawConversation):
    """The server's side of a connection that the SUT opened."""

    def __init__(self, server: RpcServer, port: int) -> None:
        super().__init__(server.peer, by_peer=False)
        self.server = server
        self.port = port
        self.protection: SecurityContextOfConnection | None = None
        """The security context with which the SUT authenticates."""
        self.contexts: dict[int, ServedPresentationContext] = {}
        self.binds: list[tuple[Frame, list[Proposal]]] = []
        self.calls: dict[int, ServedCall] = {}

    @property
    def over(self) -> bool:
        """Return whether the connection is closed."""
        return self.record.closed_by is not None

    def protect_response(self, call_id: int, p_cont_id: int, stub: bytes) -> list[bytes]:
        """Return the fragments of a response, protected as the SUT requested."""
        if self.protection is None:
            return build_response_fragments(call_id, p_cont_id, stub)
        longest = self.protection.max_fragment_bytes(MAX_FRAGMENT_BYTES)
        return [
            self.protection.protect(part)
            for part in build_response_fragments(call_id, p_cont_id, stub, fragment=longest)
        ]

    def on_connection_open(self) -> None:
        """Record the new connection."""
        self.is_open = True
        self.record = self.peer.recorder.record_opening(self.stream.local, self.stream.remote, by_peer=False, rpc=True)
        self.server.associations.append(self)

    def on_bytes(self, data: bytes) -> None:
        """Record the bytes from the SUT, and answer its PDUs."""
        for frame in self.peer.recorder.record_received(self.record, data):
            if frame.kind == MALFORMED_PACKET_KIND:
                self.server.malformed.append((frame, frame.dissection_text))
                continue
            if frame.kind in ("bind", "alter_context"):
                self._on_bind(frame)
            elif frame.kind == "auth3":
                self._on_last_authentication_leg(frame)
            elif frame.kind == "request":
                self._on_genuine_request(frame)
            elif (call := self.calls.get(read_call_id(frame.data))) is not None:
                call.frames_of_cancel_pdus.append(frame)

    def _on_bind(self, frame: Frame) -> None:
        proposals, call_id = list(list_bind_proposals(frame.data)), read_call_id(frame.data)
        self.binds.append((frame, proposals))
        if self.server.bind_rejection_reason is not None:
            self.send(bind_nak(call_id, self.server.bind_rejection_reason))
            return
        try:
            token = self._on_authentication_leg(frame)
        except SecurityError as error:
            self.server.malformed.append((frame, f"the authentication failed: {error}"))
            reason = CHECKSUM_NAK_REASON if self.protection else AUTHENTICATION_TYPE_NAK_REASON
            refusal = bind_nak(call_id, reason) if frame.kind == "bind" else fault(call_id, 0, RPC_ACCESS_DENIED_STATUS)
            self.send(refusal)
            return
        outcomes = []
        taken: set[Syntax] = set()
        for one in proposals:
            outcome = self._choose_bind_results(one, proposals, taken)
            if outcome.result == ACCEPTANCE_RESULT:
                taken.add(one.abstract_syntax)
                self.contexts[one.p_cont_id] = ServedPresentationContext(
                    one.abstract_syntax, outcome.transfer_syntax == NDR64
                )
            outcomes.append(outcome)
        kind = "bind_ack" if frame.kind == "bind" else "alter_context_resp"
        flags = WHOLE_FRAGMENT_FLAGS
        if self.server.multiplexes:
            flags |= read_flags(frame.data) & CONCURRENT_MULTIPLEXING_FLAG
        if token is not None and self.protection is not None and self.protection.uses_header_signing:
            flags |= HEADER_SIGN_FLAG
        made = build_bind_ack(call_id, tuple(outcomes), ASSOC_GROUP_ID, str(self.port), kind, flags)
        if token and self.protection is not None:
            made = append_trailer(made, self.protection.build_sec_trailer(token))
        self.send(made)

    def _on_authentication_leg(self, frame: Frame) -> bytes | None:
        """Process the SUT's authentication token if the PDU has one; return the peer's next token, or empty bytes
        if the peer sends no further token. Spec: MS-RPCE 3.3.1.5.2.1.
        """
        try:
            trailer = read_trailer(frame.data)
        except WireError as error:
            raise SecurityError(str(error)) from error
        if trailer is None:
            return None
        if self.protection is None:
            self.protection = accept_protection(self.peer.sut, trailer)
            if self.protection is None:
                raise SecurityError(f"the SUT file has no [rpc] user for authentication type {trailer.auth_type}")
            self.protection.uses_header_signing = bool(read_flags(frame.data) & HEADER_SIGN_FLAG)
        if not self.protection.owns_trailer(trailer):
            raise SecurityError("the SUT requested a second security context")
        return self.protection.step(trailer.token)

    def _on_last_authentication_leg(self, frame: Frame) -> None:
        """Process the SUT's last authentication token, to which no answer is sent. If the token is invalid, the error
        is not reported before the answer to the next call.
        """
        try:
            if self.protection is None or self._on_authentication_leg(frame) is None:
                self.server.malformed.append((frame, "an rpc_auth_3 PDU arrived outside an authentication"))
        except SecurityError as error:
            self.server.malformed.append((frame, f"the authentication failed: {error}"))

    def _on_genuine_request(self, frame: Frame) -> None:
        """Process a request after its protection was removed. The recorded frame remains as it was on the wire.
        Spec: MS-RPCE 3.3.1.5.2.2.
        """
        try:
            part = parse_fragment(frame.data if self.protection is None else self.protection.open(frame.data))
        except WireError as error:
            self.server.malformed.append((frame, f"not genuine: {error}"))
            refused = parse_fragment(frame.data)
            self.send(fault(refused.call_id, refused.cont_id, RPC_ACCESS_DENIED_STATUS))
            return
        self._on_request(frame, part)

    def _choose_bind_results(self, proposal: Proposal, proposals: list[Proposal], taken: set[Syntax]) -> BindOutcome:
        """Accept each proposed interface once. The server chooses the first of its transfer syntaxes that the
        client proposes for the interface.
        """
        if proposal.abstract_syntax not in SERVED_INTERFACES:
            return BindOutcome(PROVIDER_REJECTION_RESULT, ABSTRACT_SYNTAX_REASON)
        offered = {
            each for other in proposals if other.abstract_syntax == proposal.abstract_syntax for each in other.transfers
        }
        wanted = next((each for each in self.server.transfers if each in offered), None)
        if wanted is None or wanted not in proposal.transfers or proposal.abstract_syntax in taken:
            return BindOutcome(PROVIDER_REJECTION_RESULT, TRANSFER_SYNTAXES_REASON)
        return BindOutcome(ACCEPTANCE_RESULT, transfer_syntax=wanted)

    def _on_request(self, frame: Frame, part: Fragment) -> None:
        call = self.calls.get(part.call_id)
        if part.pfc_flags & FIRST_FRAGMENT_FLAG:
            context = self.contexts.get(part.cont_id)
            operation = _OPERATION_BY_INTERFACE_AND_OPNUM.get((context.interface, part.opnum)) if context else None
            if context is None or operation is None:
                self.server.malformed.append((frame, f"context {part.cont_id}, opnum {part.opnum}"))
                self.send(fault(part.call_id, part.cont_id, OPNUM_OUT_OF_RANGE_FAULT_STATUS))
                return
            call = ServedCall(self, part.call_id, part.cont_id, operation, context.wide)
            self.calls[part.call_id] = call
        if call is None:
            self.server.malformed.append((frame, f"a fragment belongs to call {part.call_id}, which was not started"))
            return
        call.frames.append(frame)
        call.received_stub_bytes += part.stub
        if len(call.received_stub_bytes) > MAX_STUB_BYTES:
            del self.calls[part.call_id]
            self.server.malformed.append((frame, f"a stub has more than {MAX_STUB_BYTES} bytes"))
            self.send(fault(part.call_id, call.p_cont_id, RPC_ACCESS_DENIED_STATUS))
            return
        if part.pfc_flags & LAST_FRAGMENT_FLAG:
            self._complete_call(call)

    def _complete_call(self, call: ServedCall) -> None:
        try:
            call.decoded_request = call.operation.read_request(bytes(call.received_stub_bytes), call.wide)
        except WireError as error:
            call.malformed = str(error)
        call.frames[0].stub = call.decoded_request
        self.server.take(call)


class RpcServer:
    """An RPC server that serves qmcomm and qm2qm at ``driver.peer_rpc_port``, and qm2qm also at a second port.

    ``answers``: the functions that answer calls, by the name of the method; calls of other methods get no answer.
    ``transfers``: the transfer syntaxes of the server, in order of preference. ``bind_rejection_reason``: the reason
    why the server rejects every bind, or None to accept binds. ``multiplexes``: whether the server accepts several
    calls at once on a connection (PFC_CONC_MPX, C706 12.6.3.1).
    """

    def __init__(
        self, peer: Peer, answers: dict[str, AnswerServedCall], transfers: tuple[Syntax, ...] = (NDR64, NDR)
    ) -> None:
        self.peer = peer
        self.answers = answers
        self.transfers = transfers
        self.bind_rejection_reason: int | None = None
        self.multiplexes = True
        self.associations: list[ServedAssociation] = []
        self.calls: list[ServedCall] = []
        """Every received call, in order of arrival."""
        self.malformed: list[tuple[Frame, str]] = []
        """The frames from the SUT that contain no PDU or no call, each with the reason why it is invalid."""
        self._listeners: list[TcpListener] = []
        self.port = self._open_port(peer.sut.file.driver.peer_rpc_port)
        self.read_port = self._open_port(0)
        peer.call_at_end_of_test(self.close)

    def take(self, call: ServedCall) -> None:
        """Record a call and answer it."""
        self.calls.append(call)
        answer = self.answers.get(call.name)
        if answer is not None and call.malformed is None:
            answer(call)

    def list_calls_of(self, name: str) -> list[ServedCall]:
        """Return the received calls of a method, in order of arrival."""
        return [call for call in self.calls if call.name == name]

    def wait(self, name: str, count: int = 1, within_ms: int | None = None) -> list[ServedCall]:
        """Wait for ``count`` calls of a method; return the calls that have arrived."""
        timeout = self.peer.sut.response_timeout_ms if within_ms is None else within_ms
        self.peer.environment.run_until(lambda: len(self.list_calls_of(name)) >= count, timeout)
        return self.list_calls_of(name)

    def move_read_port(self, port: int = 0) -> None:
        """Let the server listen at another port, too, and make this port the read port. It is the given port or, if 0
        is given, any free port. The old read port stays open.
        """
        self.read_port = self._open_port(port)

    def find_unused_port(self) -> int:
        """Return a port of the peer at which no program listens."""
        port = self._open_port(0)
        self._listeners.pop().close()
        return port

    def close(self) -> None:
        """Stop listening."""
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()

    def _open_port(self, port: int) -> int:
        at: list[int] = []

        def accept_connection(stream: Stream) -> StreamSink:
            association = ServedAssociation(self, at[0])
            association.stream = stream
            self.peer.register_conversation(association)
            return association

        listener = self.peer.environment.listen(Endpoint(self.peer.address, port), accept_connection)
        self._listeners.append(listener)
        at.append(listener.endpoint.port)
        return at[0]
