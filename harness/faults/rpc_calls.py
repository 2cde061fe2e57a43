"""Calls of DCE/RPC that are answered with other values, or carried out without a binding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from harness.faults.primitives import inputs
from harness.faults.registry import Install
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM, Call
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.events import RpcOutput
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.inputs import Input, RpcBytes

LAST_CONTEXT = 3
"""The p_cont_id of the last context that a client proposes who wants qmcomm and qm2qm in both transfer syntaxes."""


def answering(call: Call, **changes: Any) -> Call:
    """Return a call that is answered with other values; callables get the value that was there."""
    return cast(Call, _Answering(call, changes))


class _Answering:
    """A call whose answer is changed on its way."""

    def __init__(self, call: Call, changes: dict[str, Any]) -> None:
        self._call = call
        self._changes = changes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> list[RpcOutput]:
        for name, value in self._changes.items():
            results[name] = value(results[name]) if callable(value) else value
        return self._call.respond(**results)


def error_for_success(status: int) -> int:
    """Return MQ_ERROR for MQ_OK, and any other status as it is."""
    return Status.MQ_ERROR if status == Status.MQ_OK else status


def carried_out_unbound(method: str) -> Install:
    """Carry out requests of a method of qm2qm on a context that was never agreed on."""
    opnum = find_method(QM2QM, method)

    def filter_(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytes):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        request = pdu.body
        if not isinstance(request, Request) or request.opnum != opnum or request.p_cont_id <= LAST_CONTEXT:
            return [event]
        return [replace(event, data=replace(pdu, body=replace(request, p_cont_id=LAST_CONTEXT)).build())]

    return inputs(filter_)
