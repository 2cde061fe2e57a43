"""Faults of MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import pdus
from harness.faults.registry import add
from reference_qm.rpc import FaultStatus
from reference_qm.rpc.bodies import Fault


def _unspecified(fault: Fault) -> Fault:
    if fault.status != FaultStatus.RPC_X_BAD_STUB_DATA:
        return fault
    return replace(fault, status=FaultStatus.NCA_S_FAULT_UNSPEC)


add("rpc-bad-stubs-unnamed", "MQQP-3.1.4-01", "A stub that is none has another fault.", pdus(Fault, _unspecified))
