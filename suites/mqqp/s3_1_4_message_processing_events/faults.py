"""Faults of MS-MQQP 3.1.4 Message Processing Events and Sequencing Rules."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.primitives import pdus
from harness.faults.registry import Install, add
from harness.faults.rpc_calls import requests
from reference_qm.rpc import FaultStatus
from reference_qm.rpc.bodies import Fault


def _unspecified(fault: Fault) -> Fault:
    if fault.status != FaultStatus.RPC_X_BAD_STUB_DATA:
        return fault
    return replace(fault, status=FaultStatus.NCA_S_FAULT_UNSPEC)


add("rpc-bad-stubs-unnamed", "MQQP-3.1.4-01", "A stub that is none has another fault.", pdus(Fault, _unspecified))


def _swapped(first: int, second: int) -> Install:
    """Take two opnums of qm2qm for each other."""
    other = {first: second, second: first}
    return requests(lambda body: replace(body, opnum=other.get(body.opnum, body.opnum)))


add("remote-opnums-swapped", "MQQP-3.1.4-D01", "The opnums of port and version are swapped.", _swapped(7, 8))
add("remote-opnums-of-reads-swapped", "MQQP-3.1.4-D01", "The opnums of both ways to read are swapped.", _swapped(0, 9))
add("remote-opnum-beyond", "MQQP-3.1.4-D01", "Opnum 11 returns the version.", _swapped(8, 11))
