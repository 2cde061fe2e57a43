"""Handles the calls of clients, from the receipt of a call to its answer. Spec: MS-RPCE 3.3.3.1.5; C706 12.6.4.9,
12.6.4.10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc.authentication import AuthLevel
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.groups import ContextHandle
from reference_qm.rpc.interfaces.method import Direction, Method
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity
from reference_qm.rpc.status import NEVER_SENT_FAULT_STATUSES

if TYPE_CHECKING:
    from reference_qm.rpc.association import Association
    from reference_qm.rpc.contexts import PresentationContext
    from reference_qm.rpc.events import RpcOutput


class IncomingCall:
    """A request whose last fragment has not arrived yet."""

    __slots__ = ("call_id", "cancels", "context", "first", "method", "order", "packed_drep", "security", "stub")

    def __init__(
        self,
        pdu: Pdu,
        context: PresentationContext,
        method: Method,
        first: Request,
        security: NegotiatedSecurity | None = None,
    ) -> None:
        self.call_id = pdu.call_id
        self.context = context
        self.method = method
        self.first = first
        self.order = pdu.order
        self.packed_drep = pdu.packed_drep
        self.security = security
        self.stub = bytearray()
        self.cancels = 0


class Call:
    """A complete call of a client. The dispatcher answers it exactly once, immediately or later.

    ``arguments``: the [in] parameters by name; a context handle is a ContextHandle, or None for NULL. ``handle``:
    the context handle among the arguments. ``stub_size``: the size of the request's stub in bytes. ``ended``:
    whether the call was answered or abandoned.
    """

    __slots__ = (
        "arguments",
        "association",
        "call_id",
        "cancels",
        "context",
        "dispatched",
        "ended",
        "handle",
        "method",
        "object",
        "security",
        "stub_size",
    )

    def __init__(self, association: Association, incoming: IncomingCall, arguments: dict[str, Any]) -> None:
        self.association = association
        self.call_id = incoming.call_id
        self.context = incoming.context
        self.method = incoming.method
        self.object: UUID | None = incoming.first.object
        self.arguments = arguments
        self.security = incoming.security
        self.cancels = incoming.cancels
        self.stub_size = len(incoming.stub)
        self.handle: ContextHandle | None = None
        self.dispatched = False
        """Whether the call was passed to the dispatcher."""
        self.ended = False

    @property
    def level(self) -> AuthLevel:
        """The authentication level with which the client made the call."""
        return AuthLevel.NONE if self.security is None else self.security.level

    @property
    def identity(self) -> str:
        """The name of the authenticated user, or an empty text if the user is unknown. Spec: MS-RPCE 3.3.3.4.3."""
        return "" if self.security is None else self.security.context.identity

    @property
    def cancelled(self) -> bool:
        """Whether the client has cancelled the call."""
        return self.cancels > 0

    def make_context_handle(self, state: Any) -> ContextHandle:
        """Make a context handle for the answer. Raise MisuseError if the method opens no context handle."""
        if not self.method.opens_handle:
            raise MisuseError(f"{self.method.name} opens no context handle")
        return self.association.groups.make_context_handle(self.method.handle_type_name, state)

    def respond(self, **results: Any) -> list[RpcOutput]:
        """Answer the call with the [out] parameters and ``Return``, and return the outputs.

        A missing [in, out] parameter keeps its value. If a method opens a context handle and the results contain no
        handle, the handle is NULL. A handle that is answered with NULL is closed. Raise MisuseError for results
        that contradict the declaration of the method.
        """
        values = self._check_returned_values(results)
        handle = None
        on_the_wire = values
        if self.method.handle is not None and self.method.returns_handle:
            name = self.method.handle.name
            handle = values[name]
            if handle is not None and handle is not self.handle and not self._opens_new_handle(handle):
                raise MisuseError(
                    f"{self.method.name} {name} accepts None, the received handle, or make_context_handle()"
                )
            on_the_wire = {**values, name: None if handle is None else handle.uuid}
        stub = self.method.build_out_parameters(on_the_wire, StubEncoding(self.context.wide), self.arguments)
        return self.association.calls.answer_call(self, stub, handle)

    def fault(self, status: int) -> list[RpcOutput]:
        """Answer the call with a fault, and return the outputs. Spec: MS-RPCE 3.3.3.4.1.

        Raise MisuseError for a status that no server sends (MS-RPCE 3.3.3.5.1).
        """
        if status in NEVER_SENT_FAULT_STATUSES:
            raise MisuseError(f"{status:#010x} is not a fault status (MS-RPCE 3.3.3.5.1)")
        return self.association.calls.fail_call(self, status)

    def _check_returned_values(self, given: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for one in self.method.parameters:
            if one.direction is Direction.IN_OUT:
                values[one.name] = self.arguments[one.name]
            elif one is self.method.handle and one.direction is Direction.OUT:
                values[one.name] = None
        return {**values, **given}

    def _opens_new_handle(self, handle: object) -> bool:
        kind = self.method.handle_type_name
        return self.method.opens_handle and isinstance(handle, ContextHandle) and handle.kind == kind
