"""Faults that break the rule MQQP-2.2-01 only under certain conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from harness.faults.primitives import change_pdus, filter_inputs
from harness.faults.registry import FaultyCore, add
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.inputs import Input, RpcBytesReceived


def _propose_ndr64_in_first_bind(faulty: FaultyCore) -> None:
    binds = itertools.count(1)

    def remove_later_ndr64(bind: Bind) -> Bind:
        if next(binds) == 1:
            return bind
        proposed = tuple(replace(one, transfer_syntaxes=(NDR,)) for one in bind.p_context_elem)
        return replace(bind, p_context_elem=proposed)

    change_pdus(Bind, remove_later_ndr64)(faulty)


add(
    "client-second-bind-without-ndr64",
    "MQQP-2.2-01",
    "From its second bind on, the client does not propose NDR64.",
    _propose_ndr64_in_first_bind,
    blind=True,
)


def _accept_ndr64_on_first_connection(faulty: FaultyCore) -> None:
    connections: list[str] = []

    def remove_ndr64(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytesReceived):
            return [event]
        if event.connection not in connections:
            connections.append(event.connection)
        if event.connection == connections[0]:
            return [event]
        return [replace(event, data=event.data.replace(NDR64.uuid.bytes_le, bytes(16)))]

    filter_inputs(remove_ndr64)(faulty)


add(
    "server-ndr64-refused-on-second-connection",
    "MQQP-2.2-01",
    "The server refuses the transfer syntax NDR64 on each connection except the first.",
    _accept_ndr64_on_first_connection,
    blind=True,
)
