"""Faults in DCE/RPC calls: changed answers, calls without a binding, and interfaces at separate ports."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from harness.faults.parts import PartMethod, override_method, replace_part
from harness.faults.primitives import filter_inputs
from harness.faults.registry import FaultyCore, Install
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM, QMCOMM, Call, Interface
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.events import RpcOutput
from reference_qm.rpc.header import PacketType
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket
from reference_qm.surface.inputs import Input, RpcAccepted, RpcBytesReceived

UNBOUND_CONTEXT_ID = 0x7171
"""A p_cont_id that the client did not propose."""


def change_answer_values(call: Call, **changes: Any) -> Call:
    """Return a call whose answer has changed values. A value that is a callable computes the new value from the old
    value.
    """
    return cast(Call, _CallWithChangedAnswer(call, changes))


class _CallWithChangedAnswer:
    """A call whose answer is changed before the server sends it."""

    def __init__(self, call: Call, changes: dict[str, Any]) -> None:
        self._call = call
        self._changes = changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> list[RpcOutput]:
        for name, value in self._changes.items():
            results[name] = value(results[name]) if callable(value) else value
        return self._call.respond(**results)


class _CallWithRpcFaults(_CallWithChangedAnswer):
    """A call that reports failures as RPC faults instead of HRESULTs."""

    def respond(self, **results: Any) -> list[RpcOutput]:
        status: int = results["Return"]
        return self._call.fault(status) if status >> 31 else self._call.respond(**results)


def throw_refusals_as_rpc_faults(method: PartMethod) -> Install:
    """Return an installer of a fault with which a method reports refusals as RPC faults instead of HRESULTs."""
    return replace_part(
        override_method(method, lambda original: lambda qm, call, now: original(qm, _CallWithRpcFaults(call, {}), now))
    )


def change_rpc_answer(method: PartMethod, **changes: Any) -> Install:
    """Return an installer of a fault that changes values in the answers of a method as ``change_answer_values``
    does.
    """
    return replace_part(
        override_method(
            method, lambda original: lambda qm, call, now: original(qm, change_answer_values(call, **changes), now)
        )
    )


def change_rpc_requests(change: Callable[[Request], Request]) -> Install:
    """Return an installer of a fault that changes RPC requests before the server reads them."""

    def filter_request_bytes(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytesReceived):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        body = change(pdu.body) if isinstance(pdu.body, Request) else pdu.body
        return [event] if body == pdu.body else [replace(event, data=replace(pdu, body=body).build())]

    return filter_inputs(filter_request_bytes)


def change_qm2qm_request_stub(method: str, length: int, change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes the request stubs of a method of qm2qm before the server reads
    them. ``length``: the size (in bytes) of the stubs to change.
    """
    opnum = find_method(QM2QM, method)

    def rewrite_request(body: Request) -> Request:
        known = body.opnum == opnum and len(body.stub) == length
        return replace(body, stub=change(body.stub)) if known else body

    return change_rpc_requests(rewrite_request)


def replace_success_by_error(status: int) -> int:
    """Return MQ_ERROR if the status is MQ_OK; otherwise return the status unchanged."""
    return Status.MQ_ERROR if status == Status.MQ_OK else status


def call_on_unbound_context(method: str, first_call: int = 1, first_connection: int = 1) -> Install:
    """Return an installer of a fault with which the client calls a method of qm2qm on a presentation context that was
    never accepted. Calls on connections before number ``first_connection`` are correct, and so are the calls before
    number ``first_call`` on that connection.
    """
    return _change_context_handle(method, lambda accepted: UNBOUND_CONTEXT_ID, first_call, first_connection)


def call_on_rejected_context(method: str, first_call: int = 1) -> Install:
    """Return an installer of a fault with which the client calls a method of qm2qm on the presentation context that the
    server rejected. Calls before number ``first_call`` are correct. The client proposes two contexts, one for each
    transfer syntax, and the server accepts one of them.
    """
    return _change_context_handle(method, lambda accepted: accepted ^ 1, first_call)


def call_always_on_same_context(method: str, context: int) -> Install:
    """Return an installer of a fault with which the client always calls a method of qm2qm on the same presentation
    context, whether or not the server accepted this context. ``context`` is its p_cont_id: 0 for NDR, 1 for NDR64.
    """
    return _change_context_handle(method, lambda accepted: context, 1)


def _change_context_handle(
    method: str, change: Callable[[int], int], first_call: int, first_connection: int = 1
) -> Install:
    """Return an installer of a fault with which the client calls a method of qm2qm on a presentation context other than
    the accepted one. ``change`` is called with the identifier of the accepted context, and returns the identifier of
    the context that the client uses.
    """
    opnum = find_method(QM2QM, method)

    def install_calls(faulty: FaultyCore) -> None:
        bound: list[str] = []
        calls = itertools.count(1)

        def filter_call_effect(effect: Effect) -> Iterable[Effect]:
            if not isinstance(effect, SendPacket):
                return [effect]
            try:
                pdu = Pdu.parse(effect.data)
            except PduError:
                return [effect]  # a packet of message queuing
            body = pdu.body
            if isinstance(body, Bind) and any(one.abstract_syntax == QM2QM.syntax for one in body.p_context_elem):
                bound.append(effect.transport)
            if not isinstance(body, Request) or body.opnum != opnum or effect.transport not in bound:
                return [effect]
            if bound.index(effect.transport) + 1 < first_connection:
                return [effect]
            if next(calls) < first_call:
                return [effect]
            changed = replace(body, p_cont_id=change(body.p_cont_id))
            return [replace(effect, data=replace(pdu, body=changed).build())]

        faulty.effect_filters.append(filter_call_effect)

    return install_calls


_BIND_PTYPE_BYTES = tuple(bytes([kind]) for kind in (PacketType.BIND, PacketType.ALTER_CONTEXT))
_PTYPE_OFFSET = 2


def serve_interfaces_at_separate_ports(faulty: FaultyCore) -> None:
    """Install a variant that serves qmcomm and qm2qm at separate ports, as MS-MQQP 3.1.4.8 permits."""
    not_here: dict[str, Interface] = {}

    def filter_(event: Input) -> Iterable[Input]:
        if isinstance(event, RpcAccepted):
            listening = faulty.core.rpc_listening
            at_read_port = listening is not None and event.local.port == listening.read.port
            not_here[event.connection] = QMCOMM if at_read_port else QM2QM
        elif isinstance(event, RpcBytesReceived) and event.data[_PTYPE_OFFSET : _PTYPE_OFFSET + 1] in _BIND_PTYPE_BYTES:
            hidden = not_here[event.connection].syntax.uuid
            unknown = UUID(int=hidden.int ^ 1)
            return [replace(event, data=event.data.replace(hidden.bytes_le, unknown.bytes_le))]
        return [event]

    faulty.input_filters.append(filter_)
