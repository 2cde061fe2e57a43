"""Faults of MS-MQQP 2.2 Common Data Types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.primitives import inputs, pdus
from harness.faults.registry import add
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.inputs import Input, RpcBytes


def _without_ndr64(event: Input) -> Iterable[Input]:
    """Take proposals of NDR64 for those of a syntax that nobody knows."""
    if isinstance(event, RpcBytes):
        event = replace(event, data=event.data.replace(NDR64.uuid.bytes_le, bytes(16)))
    return [event]


def _ndr_only(bind: Bind) -> Bind:
    """Propose NDR where NDR64 was to be."""
    proposed = tuple(replace(one, transfer_syntaxes=(NDR,)) for one in bind.p_context_elem)
    return replace(bind, p_context_elem=proposed)


add("rpc-without-ndr64", "MQQP-2.2-01", "NDR64 is not known.", inputs(_without_ndr64))
add("remote-bind-ndr-only", "MQQP-2.2-01", "NDR64 is not proposed.", pdus(Bind, _ndr_only))

BROKEN_ELSEWHERE = {
    "MQQP-2.2.1.1-01": ("remote-close-handle-kept", "remote-close-not-called", "remote-open-without-handle"),
    "MQQP-2.2.1.2-01": ("remote-end-handle-kept", "remote-read-not-ended", "remote-receive-without-handle"),
}
"""Faults of other sections that break rules of this one."""
