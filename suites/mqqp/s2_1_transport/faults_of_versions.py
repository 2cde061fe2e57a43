"""Faults that break MQQP-1.9-D01: versions of the interface qm2qm that the server accepts by mistake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.primitives import filter_inputs
from harness.faults.registry import Install, add
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bind_bodies import AlterContext, Bind
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.inputs import Input, RpcBytesReceived


def _accept_wrong_interface_version(kind: type[Bind], version: int) -> Install:
    """Return an installer of a fault that serves qm2qm to clients that propose another version of the interface."""

    def filter_proposals(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytesReceived):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        if type(pdu.body) is not kind:
            return [event]
        elements = tuple(
            replace(one, abstract_syntax=QM2QM.syntax)
            if (one.abstract_syntax.uuid, one.abstract_syntax.version) == (QM2QM.syntax.uuid, version)
            else one
            for one in pdu.body.p_context_elem
        )
        if elements == pdu.body.p_context_elem:
            return [event]
        return [replace(event, data=replace(pdu, body=replace(pdu.body, p_context_elem=elements)).build())]

    return filter_inputs(filter_proposals)


add(
    "acceptor-alter-context-interface-version-2-accepted",
    "MQQP-1.9-D01",
    "The acceptor accepts version 2.0 of the interface qm2qm in an alter_context PDU.",
    _accept_wrong_interface_version(AlterContext, 2),
    blind=True,
)
add(
    "acceptor-bind-interface-version-0-accepted",
    "MQQP-1.9-D01",
    "The acceptor accepts version 0.0 of the interface qm2qm in a bind PDU.",
    _accept_wrong_interface_version(Bind, 0),
    blind=True,
)
