"""A DCE/RPC connection on which a check calls the SUT, with any PDU or stub. Spec: C706 12; MS-RPCE 3.3."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure, HarnessError, SutUnavailable
from harness.peer.conversation import RawConversation
from harness.peer.rpc_protection import SecurityContextOfConnection, begin_protection
from harness.sut.releases import LackedByRelease, does_release_lack_method
from harness.wire import dissect
from harness.wire.rpc import (
    ACCEPTANCE_RESULT,
    CONCURRENT_MULTIPLEXING_FLAG,
    LAST_FRAGMENT_FLAG,
    MAX_FRAGMENT_BYTES,
    MAX_STUB_BYTES,
    NDR,
    NDR64,
    WHOLE_FRAGMENT_FLAGS,
    BindOutcome,
    Proposal,
    Syntax,
    bind,
    build_bind,
    build_co_cancel_pdu,
    build_rpc_auth3,
    list_bind_outcomes,
    read_call_id,
    read_group_id,
)
from harness.wire.rpc_ept import EPT_OPERATIONS
from harness.wire.rpc_fragments import Fragment, build_request_fragments, parse_fragment
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from harness.wire.rpc_qmcomm import QMCOMM_OPERATIONS
from harness.wire.rpc_status import get_fault_name, get_status_name, is_failure
from harness.wire.rpc_stub import NULL_HANDLE, Operation, octets
from harness.wire.rpc_trailer import HEADER_SIGN_FLAG, INTEGRITY_LEVEL, append_trailer, read_trailer
from harness.wire.wire_error import WireError
from reference_qm.rpc.authentication import SecurityError
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from harness.peer.peer import Peer

NO_SUCH_METHOD_FAULT_STATUS = 0x1C010002
"""The fault status nca_s_op_rng_error, which means that the interface has no operation with the requested number
(C706 E).
"""
RPC_ACCESS_DENIED_STATUS = 5
"""The fault status ERROR_ACCESS_DENIED (MS-MQMP 5.1)."""
OPERATION_BY_NAME = {**QM2QM_OPERATIONS, **QMCOMM_OPERATIONS, **EPT_OPERATIONS}


class AcceptedPresentationContext(NamedTuple):
    """A presentation context that the SUT accepted. ``wide``: whether stubs in this context are in NDR64."""

    p_cont_id: int
    wide: bool


@dataclass(eq=False)
class Call:
    """A call to the SUT and its outcome. ``sent``, ``received``: the fragments of the request and of the answer."""

    association: Association
    call_id: int
    operation: Operation | None
    wide: bool
    sent: list[Frame]
    received: list[Frame] = field(default_factory=list)
    answered: bool = False
    thrown: int | None = None
    """The status of the fault with which the SUT answered the call."""
    out: Any = None
    """The dissected stub of the response, a scapy packet with the results of the call."""
    malformed: str | None = None
    """The reason why the stub of the response is invalid."""
    received_stub_bytes: bytearray = field(default_factory=bytearray, repr=False)
    _packet: Any = field(default=None, repr=False)

    @property
    def stub(self) -> bytes:
        """The bytes of the response's stub that have been received so far."""
        return bytes(self.received_stub_bytes)

    def wait(self, within_ms: int | None = None) -> Call:
        """Wait until the answer to the call has arrived, or until it is known that no answer will arrive; raise
        LackedByRelease if the SUT's release does not have the method.
        """
        name = self.operation.name if self.operation else "a call"
        peer = self.association.peer
        peer.wait(lambda: self.answered or self.association.over, within_ms, f"the answer to {name}")
        if self.thrown == NO_SUCH_METHOD_FAULT_STATUS and does_release_lack_method(peer.sut, name):
            raise LackedByRelease(f"the SUT's release does not implement {name} (MS-MQQP <2>)")
        return self

    def expect_success(self, within_ms: int | None = None) -> Call:
        """Wait for the answer as ``wait`` does. Raise ConformanceFailure if the call failed, because the next steps of
        the check depend on its success.
        """
        self.wait(within_ms)
        if self.outcome not in ("MQ_OK", "returned"):
            name = self.operation.name if self.operation else "a call"
            raise ConformanceFailure(f"{name} did not succeed: {self.outcome}{self.advice_on_denial}")
        return self

    settled = expect_success

    @property
    def advice_on_denial(self) -> str:
        """The text that a message about a denied call adds if the SUT denied the call because the tester does not
        authenticate. For any other call, it is an empty string.
        """
        denied = self.thrown == RPC_ACCESS_DENIED_STATUS and self.association.protection is None
        return " (the tester does not authenticate; [rpc] of the SUT file can name a user)" if denied else ""

    @property
    def status(self) -> int | None:
        """Return the result of the call (an HRESULT or a number), or None if no response has arrived or the
        operation has no result.
        """
        return getattr(self.out, "Return", None) if self.out is not None else None

    @property
    def failed(self) -> bool:
        """Return whether the call returned a failure HRESULT."""
        return self.status is not None and is_failure(self.status)

    @property
    def is_refused(self) -> bool:
        """Return whether the SUT answered the call with a fault or a failure HRESULT."""
        return self.thrown is not None or self.failed

    @property
    def outcome(self) -> str:
        """Return a short description of the outcome of the call, such as ``MQ_OK`` or ``fault nca_s_op_rng_error``."""
        if self.thrown is not None:
            return get_fault_name(self.thrown)
        if self.malformed is not None:
            return f"a malformed response: {self.malformed}"
        if not self.answered:
            return "the connection closed" if self.association.over else "no answer"
        return "returned" if self.status is None else get_status_name(self.status)

    @property
    def outcome_whether_thrown_or_returned(self) -> str:
        """The outcome of the call. An HRESULT has the same description whether the SUT returned it or sent it as the
        status of a fault.
        """
        return self.outcome.removeprefix("fault ") if self.thrown is not None else self.outcome

    # -- the answer of a read (MS-MQQP 3.1.4.1, 3.1.4.10, 3.1.4.11) ----------------------------------------------

    FAILURE_HRESULT_TEXT: ClassVar[str] = "a failure HRESULT"
    WAITING: ClassVar[str] = "still waiting"

    @property
    def description(self) -> Any:
        """The REMOTEREADDESC in the answer to a read, or None if the answer has no REMOTEREADDESC."""
        if self.out is None:
            return None
        if hasattr(self.out, "lpRemoteReadDesc"):
            return self.out.lpRemoteReadDesc
        described = self.out.lpRemoteReadDesc2.pRemoteReadDesc
        return None if described is None else described.value

    @property
    def sequential_id_of_read(self) -> int | None:
        """The SequentialId in the answer to a read, or None if the answer has no SequentialId."""
        return None if self.out is None else self.out.lpRemoteReadDesc2.SequentialId

    @property
    def packet_bytes(self) -> bytes:
        """The bytes of lpBuffer in the answer to a read, or empty bytes if lpBuffer is NULL."""
        return b"" if self.description is None else octets(self.description.lpBuffer) or b""

    @property
    def packet(self) -> Any:
        """The dissected UserMessage in the answer to a read, or None if the answer has no UserMessage."""
        if self._packet is None and (data := self.packet_bytes):
            with contextlib.suppress(WireError):
                self._packet = dissect(data)
        return self._packet

    @property
    def label(self) -> str | None:
        """The label of the message in the answer to a read, or None if the answer contains no message."""
        packet = self.packet
        return None if packet is None else str(packet["MessagePropertiesHeader"].Label)

    @property
    def label_or_outcome(self) -> str:
        """The label of the message that a read returned, with a remark if another check sent the message. If the read
        returned no message, it is the outcome of the read.
        """
        if self.outcome != "MQ_OK":
            return self.outcome
        packet = self.packet
        if packet is None:
            return "MQ_OK without a message"
        source = packet["UserHeader"].SourceQueueManager
        label = str(packet["MessagePropertiesHeader"].Label)
        return label if source == self.association.peer.identifier else f"{label!r} of another check, from {source}"

    @property
    def label_or_failure(self) -> str:
        """``FAILURE_HRESULT_TEXT`` if the call returned a failure HRESULT; otherwise ``label_or_outcome``."""
        return self.FAILURE_HRESULT_TEXT if self.failed else self.label_or_outcome

    @property
    def has_null_handle(self) -> bool:
        """Whether the context handle in the answer to a read is NULL."""
        return self.out is not None and bytes(self.out.pphContext) == NULL_HANDLE

    def state_after_silence(self) -> str:
        """Wait for a silence window; return ``WAITING`` if the read has no answer by then, otherwise the outcome of the
        read.
        """
        self.wait(self.association.peer.sut.quiet_ms)
        return self.label_or_outcome if self.answered or self.association.over else self.WAITING

    @property
    def evidence(self) -> list[Frame]:
        """Return the packets that show the call: the first fragment of the request, and the first fragment of the
        answer.
        """
        return [*self.sent[:1], *self.received[:1]]

    def take(self, frame: Frame, fragment: Fragment | None) -> None:
        """Record a fragment of the SUT's answer to this call; if ``fragment`` is None, record that the SUT answered
        with a fault.
        """
        self.received.append(frame)
        if fragment is None:
            self.thrown, self.answered = frame.packet.payload.status, True
            return
        self.received_stub_bytes += fragment.stub
        if len(self.received_stub_bytes) > MAX_STUB_BYTES:
            self.malformed, self.answered = f"the stub has more than {MAX_STUB_BYTES} bytes", True
            return
        if not fragment.pfc_flags & LAST_FRAGMENT_FLAG:
            return
        self.answered = True
        if self.operation is not None:
            try:
                self.out = self.operation.read_response(bytes(self.received_stub_bytes), self.wide)
            except WireError as error:
                self.malformed = str(error)
            self.received[0].stub = self.out


class Association(RawConversation):
    """The client's side of an RPC connection. It sends only the PDUs that the check requests, and stores each answer
    with its call.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer, by_peer=True)
        self.contexts: dict[Syntax, AcceptedPresentationContext] = {}
        self.elsewhere: dict[Syntax, Association] = {}
        """The associations for interfaces that the SUT serves at separate ports, by interface."""
        self.group = 0
        self.protection: SecurityContextOfConnection | None = None
        """The security context of the connection, or None before the first bind with authentication."""
        self.calls: dict[int, Call] = {}
        self.answers: list[Frame] = []
        """The PDUs that answer no call, such as bind_ack, and the received bytes that do not form a PDU, in order
        of arrival.
        """
        self._call_id = 0
        self._context_id = 0

    @property
    def over(self) -> bool:
        """Return whether the connection is closed."""
        return self.record.closed_by is not None

    # -- the connection -----------------------------------------------------------------------------------------

    def connect(self, port: int) -> Association:
        """Connect to a port of the SUT; raise SutUnavailable if nothing answers there."""
        endpoint = Endpoint(self.peer.sut.address, port)
        self.stream = self.peer.environment.connect(endpoint, self.peer.address, self)
        self.peer.environment.run_until(
            lambda: self.is_open or self.failed is not None, self.peer.sut.timeouts.connect_ms
        )
        if not self.is_open:
            why = self.failed or "no answer"
            raise SutUnavailable(f"cannot connect to {endpoint.host}:{endpoint.port} for RPC: {why}")
        return self

    def on_connection_open(self) -> None:
        """Record the new connection."""
        self.is_open = True
        self.record = self.peer.recorder.record_opening(self.stream.local, self.stream.remote, by_peer=True, rpc=True)

    def on_bytes(self, data: bytes) -> None:
        """Record the bytes from the SUT, and pass each answer to the call that it answers."""
        for frame in self.peer.recorder.record_received(self.record, data):
            fragment, malformed = self._decrypt_response(frame)
            call = self.calls.get(read_call_id(frame.data)) if frame.kind in ("response", "fault") else None
            if call is None or call.answered:
                self.answers.append(frame)
            elif malformed is not None:
                call.received.append(frame)
                call.malformed, call.answered = malformed, True
            else:
                call.take(frame, fragment)

    def _decrypt_response(self, frame: Frame) -> tuple[Fragment | None, str | None]:
        """Decrypt the stub of a response, and return the response. If the response is not genuine, return the reason
        instead.

        The recorded frame remains as it was on the wire.
        """
        if frame.kind != "response":
            return None, None
        try:
            data = frame.data if self.protection is None else self.protection.open(frame.data)
            return parse_fragment(data), None
        except WireError as error:
            return None, f"not genuine: {error}"

    # -- presentation contexts ----------------------------------------------------------------------------------

    def send_bind_pdu(
        self,
        proposals: Sequence[Proposal],
        *,
        kind: str = "bind",
        group: int = 0,
        flags: int = WHOLE_FRAGMENT_FLAGS | CONCURRENT_MULTIPLEXING_FLAG,
        authenticate: bool = False,
        **body: Any,
    ) -> Frame | None:
        """Send a bind or an alter_context (``kind``); return the answer, or None if no answer arrives.

        ``authenticate``: whether to authenticate if the SUT file has an [rpc] user. Raise ConformanceFailure if the
        SUT's token is invalid.
        """
        self._call_id += 1
        if authenticate and self.protection is None:
            self.protection = begin_protection(self.peer.sut)
        else:
            authenticate = False
        try:
            frame = self._negotiate_contexts(
                proposals, kind, group, flags, body, self.protection if authenticate else None
            )
        except SecurityError as error:
            raise ConformanceFailure(f"the authentication of the tester to the SUT failed: {error}") from error
        if frame is not None and frame.kind in ("bind_ack", "alter_context_resp"):
            self._note_accepted_interfaces(proposals, list_bind_outcomes(frame.data))
            self.group = read_group_id(frame.data)
        return frame

    def _negotiate_contexts(
        self,
        proposals: Sequence[Proposal],
        kind: str,
        group: int,
        flags: int,
        body: dict[str, Any],
        protection: SecurityContextOfConnection | None,
    ) -> Frame | None:
        """Propose presentation contexts and, if the connection is protected, carry out every step of the
        authentication; return the answer to the first PDU. Spec: MS-RPCE 3.3.1.5.2.1.
        """
        if protection is None:
            made = (
                bytes(bind(self._call_id, proposals, kind=kind, group=group, flags=flags, **body))
                if body
                else build_bind(self._call_id, tuple(proposals), group, kind, flags)
            )
            return self._send_and_receive_pdu(made, kind)
        flags |= HEADER_SIGN_FLAG if protection.auth_level >= INTEGRITY_LEVEL else 0
        made = bytes(bind(self._call_id, proposals, kind=kind, group=group, flags=flags, **body))
        first = answer = self._send_and_receive_pdu(
            append_trailer(made, protection.build_sec_trailer(protection.step(b""))), kind
        )
        if answer is not None and answer.kind == "bind_ack":
            protection.uses_header_signing = bool(answer.packet.pfc_flags & HEADER_SIGN_FLAG)
        again = bytes(
            bind(self._call_id, proposals, kind="alter_context", group=group, flags=WHOLE_FRAGMENT_FLAGS, **body)
        )
        while answer is not None and answer.kind in ("bind_ack", "alter_context_resp"):
            given = read_trailer(answer.data)
            if given is None and not protection.context.is_complete:
                raise SecurityError("the SUT's answer contains no token")
            token = b"" if given is None else protection.step(given.token)
            if not token:
                return first
            leg = protection.build_sec_trailer(token)
            if protection.is_last_token_unanswered:
                self.send(append_trailer(bytes(build_rpc_auth3(self._call_id)), leg))
                return first
            answer = self._send_and_receive_pdu(append_trailer(again, leg), "alter_context")
        return answer

    def _send_and_receive_pdu(self, pdu: bytes, what: str) -> Frame | None:
        """Send a PDU; return the PDU that answers it, or None if no answer arrived."""
        before = len(self.answers)
        self.send(pdu)
        self.peer.wait(lambda: len(self.answers) > before or self.over, None, f"the answer to {what}")
        return self.answers[before] if len(self.answers) > before else None

    def bind(
        self, *interfaces: Syntax, transfers: Iterable[Syntax] = (NDR, NDR64), kind: str = "bind", group: int = 0
    ) -> Association:
        """Bind to interfaces; propose each interface once with each transfer syntax, as clients do.

        Raise ConformanceFailure if the SUT accepts no transfer syntax for one of the interfaces.
        """
        refused, said = self.bind_and_list_rejected_interfaces(*interfaces, transfers=transfers, kind=kind, group=group)
        if refused:
            raise ConformanceFailure(f"the SUT did not accept the interface {refused[0].uuid}: the answer was {said}")
        return self

    def bind_and_list_rejected_interfaces(
        self, *interfaces: Syntax, transfers: Iterable[Syntax] = (NDR, NDR64), kind: str = "bind", group: int = 0
    ) -> tuple[list[Syntax], str]:
        """Propose interfaces as ``bind`` does; return the interfaces that the SUT did not accept, and the kind of its
        answer.
        """
        proposals = []
        for interface in interfaces:
            for transfer in transfers:
                proposals.append(Proposal(self._context_id, interface, (transfer,)))
                self._context_id += 1
        frame = self.send_bind_pdu(proposals, kind=kind, group=group, authenticate=kind == "bind")
        return [one for one in interfaces if one not in self.contexts], frame.kind if frame else "nothing"

    def of(self, interface: Syntax) -> Association:
        """Return the association on which the methods of an interface can be called. This is this association or, if
        the SUT serves the interface at another port, an association with that port.
        """
        return self if interface in self.contexts else self.elsewhere.get(interface, self)

    def close(self) -> None:
        """Close this connection and the associations with other ports."""
        super().close()
        for other in self.elsewhere.values():
            if not other.over:
                other.close()

    def bind_additional_interfaces(
        self, *interfaces: Syntax, transfers: Iterable[Syntax] = (NDR, NDR64)
    ) -> Association:
        """Send an alter_context to bind to additional interfaces."""
        return self.bind(*interfaces, transfers=transfers, kind="alter_context", group=self.group)

    def _note_accepted_interfaces(self, proposals: Sequence[Proposal], outcomes: Sequence[BindOutcome]) -> None:
        for proposal, outcome in zip(proposals, outcomes, strict=False):
            if outcome.result == ACCEPTANCE_RESULT and outcome.transfer_syntax in (NDR, NDR64):
                self.contexts[proposal.abstract_syntax] = AcceptedPresentationContext(
                    proposal.p_cont_id, outcome.transfer_syntax == NDR64
                )

    # -- calls --------------------------------------------------------------------------------------------------

    def begin(
        self,
        name: str,
        *,
        stub: bytes | None = None,
        fragment: int = MAX_FRAGMENT_BYTES,
        context: AcceptedPresentationContext | None = None,
        **arguments: Any,
    ) -> Call:
        """Send a request without waiting for its answer.

        ``stub``: the bytes of the stub, used instead of ``arguments``. Omitted arguments are zero or NULL.
        """
        operation = OPERATION_BY_NAME[name]
        there = self.of(operation.interface)
        if context is None and there is not self:
            return there.begin(name, stub=stub, fragment=fragment, **arguments)
        where = context or self.contexts.get(operation.interface)
        if where is None:
            raise HarnessError(f"bind the interface of {name} before the call")
        made = operation.build_request(where.wide, **arguments) if stub is None else stub
        call = self.call_raw(operation.opnum, made, where, fragment=fragment)
        call.operation = operation
        return call

    def call(self, name: str, *, within_ms: int | None = None, **arguments: Any) -> Call:
        """Send a request and wait for its answer."""
        return self.begin(name, **arguments).wait(within_ms)

    def call_raw(
        self,
        opnum: int,
        stub: bytes,
        context: AcceptedPresentationContext,
        *,
        call_id: int | None = None,
        fragment: int = MAX_FRAGMENT_BYTES,
    ) -> Call:
        """Send a request with any opnum, and wait for its answer. The returned call contains the stub of the
        answer.
        """
        if call_id is None:
            self._call_id += 1
            call_id = self._call_id
        call = Call(self, call_id, None, context.wide, [])
        self.calls[call_id] = call
        longest = fragment if self.protection is None else self.protection.max_fragment_bytes(fragment)
        for part in build_request_fragments(call_id, context.p_cont_id, opnum, stub, fragment=longest):
            call.sent.append(self.send(part if self.protection is None else self.protection.protect(part)))
        return call

    def cancel(self, call: Call) -> Frame:
        """Cancel a call with a co_cancel PDU."""
        return self.send(build_co_cancel_pdu(call.call_id))
