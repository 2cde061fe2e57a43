"""Faults in the presentation contexts on which a client calls methods of qm2qm."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from harness.faults.registry import FaultyCore, Install
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket


def call_on_rejected_context(method: str, first_call: int = 1) -> Install:
    """Return an installer of a fault with which the client calls a method of qm2qm on the presentation context that the
    server rejected, from the call with the number ``first_call`` on. The client proposes two contexts, one for each
    transfer syntax, and the server accepts one of them.
    """
    opnum = find_method(QM2QM, method)

    def install_rejected_contexts(faulty: FaultyCore) -> None:
        bound: set[str] = set()
        calls = itertools.count(1)

        def filter_context_effect(effect: Effect) -> Iterable[Effect]:
            if not isinstance(effect, SendPacket):
                return [effect]
            try:
                pdu = Pdu.parse(effect.data)
            except PduError:
                return [effect]  # a packet of message queuing
            body = pdu.body
            if isinstance(body, Bind) and any(one.abstract_syntax == QM2QM.syntax for one in body.p_context_elem):
                bound.add(effect.transport)
            if not isinstance(body, Request) or effect.transport not in bound or body.opnum != opnum:
                return [effect]
            if next(calls) < first_call:
                return [effect]
            rejected = replace(body, p_cont_id=body.p_cont_id ^ 1)
            return [replace(effect, data=replace(pdu, body=rejected).build())]

        faulty.effect_filters.append(filter_context_effect)

    return install_rejected_contexts
