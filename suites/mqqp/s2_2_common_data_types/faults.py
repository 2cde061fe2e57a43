"""Faults of MS-MQQP 2.2 Common Data Types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.primitives import both, inputs, pdus
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_answer
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.core.remote.remote_starting import RemoteStarting
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.inputs import Input, RpcBytes

READ_STEPS = (
    RemoteStarting.remote_qm_start_receive,
    RemoteStarting.remote_qm_start_receive2,
    RemoteStarting.remote_qm_start_receive_by_lookup_id,
    RemoteEnding.remote_qm_end_receive,
    RemoteEnding.remote_qm_cancel_receive,
    RemoteOpening.remote_qm_open_queue,
    RemoteOpening.remote_qm_close_queue,
    RemoteOpening.remote_qm_close_cursor,
    RemoteOpening.remote_qm_purge_queue,
)


def _remove_ndr64_proposals(event: Input) -> Iterable[Input]:
    """Replace NDR64 with an unknown transfer syntax in each bind that the server receives."""
    if isinstance(event, RpcBytes):
        event = replace(event, data=event.data.replace(NDR64.uuid.bytes_le, bytes(16)))
    return [event]


def _propose_only_ndr(bind: Bind) -> Bind:
    """Replace NDR64 with NDR in each bind that the client sends."""
    proposed = tuple(replace(one, transfer_syntaxes=(NDR,)) for one in bind.p_context_elem)
    return replace(bind, p_context_elem=proposed)


add(
    "server-ndr64-refused",
    "MQQP-2.2-01",
    "The server refuses the transfer syntax NDR64.",
    inputs(_remove_ndr64_proposals),
)
add(
    "client-bind-without-ndr64",
    "MQQP-2.2-01",
    "The client does not propose NDR64 in its bind.",
    pdus(Bind, _propose_only_ndr),
)


def _replace_failure_status(change: Callable[[int], int]) -> Install:
    """Build a fault that changes the failure statuses that the methods of qm2qm return."""

    def changed_status(status: int) -> int:
        return change(status) if status >> 31 else status

    return both(*(change_answer(method, Return=changed_status) for method in READ_STEPS))


add(
    "server-failure-unlisted-without-customer-bit",
    ("MQQP-1.8-D01", "MQDMPR-1.8-D01"),
    "The server returns failure HRESULTs whose code no document lists, with the C bit clear.",
    _replace_failure_status(lambda status: 0xC00E_7777),
)
add(
    "server-failure-without-severity-bit",
    "MQQP-2.2-D01",
    "The server returns failure HRESULTs with the S bit clear.",
    _replace_failure_status(lambda status: status & 0x7FFF_FFFF),
)
