"""Faults that break rules of MS-MQQP 3.1.4.9 for servers that accept one transfer syntax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.registry import FaultyCore, add
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket

_NDR64_CONTEXT_ID = 1


def _send_version_calls_in_ndr64_context(faulty: FaultyCore) -> None:
    opnum = find_method(QM2QM, "RemoteQmGetVersion")

    def change_context(effect: Effect) -> Iterable[Effect]:
        if not isinstance(effect, SendPacket):
            return [effect]
        binding = faulty.core.remote_client.binding_by_connection.get(effect.transport)
        if binding is None or binding.interface is not QM2QM:
            return [effect]
        try:
            pdu = Pdu.parse(effect.data)
        except PduError:
            return [effect]  # a request of several fragments
        if not isinstance(pdu.body, Request) or pdu.body.opnum != opnum:
            return [effect]
        return [replace(effect, data=replace(pdu, body=replace(pdu.body, p_cont_id=_NDR64_CONTEXT_ID)).build())]

    faulty.effect_filters.append(change_context)


add(
    "client-get-version-context-of-ndr64-although-refused",
    "MQQP-3.1.4.9-01",
    "The client calls RemoteQmGetVersion on the presentation context for NDR64, although the server has accepted only "
    "the context for NDR.",
    _send_version_calls_in_ndr64_context,
    blind=True,
)
