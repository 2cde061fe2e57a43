"""Faults that break rules of MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import change_pdus
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_rpc_requests
from reference_qm.rpc import FaultStatus
from reference_qm.rpc.bodies import Fault


def _replace_stub_data_fault(fault: Fault) -> Fault:
    if fault.status != FaultStatus.RPC_X_BAD_STUB_DATA:
        return fault
    return replace(fault, status=FaultStatus.NCA_S_FAULT_UNSPEC)


add(
    "server-bad-stub-gets-wrong-fault-status",
    "MQQP-3.1.4-01",
    "The server answers a malformed stub with a fault other than RPC_X_BAD_STUB_DATA.",
    change_pdus(Fault, _replace_stub_data_fault),
)


def _exchange_opnums(first: int, second: int) -> Install:
    """Build a fault in which the server swaps two opnums of qm2qm."""
    other = {first: second, second: first}
    return change_rpc_requests(lambda body: replace(body, opnum=other.get(body.opnum, body.opnum)))


add(
    "server-opnums-of-port-and-version-swapped",
    "MQQP-3.1.4-D01",
    "The server swaps the opnums of RemoteQMGetQMQMServerPort and RemoteQmGetVersion.",
    _exchange_opnums(7, 8),
)
add(
    "server-opnums-of-start-receives-swapped",
    "MQQP-3.1.4-D01",
    "The server swaps the opnums of RemoteQMStartReceive and RemoteQMStartReceive2.",
    _exchange_opnums(0, 9),
)
add(
    "server-opnum-11-returns-version",
    "MQQP-3.1.4-D01",
    "The server answers opnum 11 as RemoteQmGetVersion.",
    _exchange_opnums(8, 11),
)
