"""Faults in the opnums of qm2qm."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import change_rpc_requests
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc import Call
from reference_qm.rpc.bodies import Request

UNUSED_OPNUM, VERSION_OPNUM = 11, 8


@fault("server-refuses-qm2qm-opnum-5-of-remote-qm-cancel-receive", breaks="MQQP-3.1.4-D01", blind=True)
class ServerRefusesQm2qmOpnum5OfRemoteQmCancelReceive(RpcEventDispatching):
    """The acceptor has no method of qm2qm with the opnum 5."""

    def is_method_supported(self, call: Call) -> bool:
        return call.method.name != "RemoteQMCancelReceive" and super().is_method_supported(call)


def _serve_unused_opnum(body: Request) -> Request:
    return replace(body, opnum=VERSION_OPNUM) if body.opnum == UNUSED_OPNUM else body


add(
    "acceptor-qm2qm-opnum-11-served",
    "MQQP-3.1.4-D01",
    "The acceptor has a method of qm2qm with the opnum 11, which returns the version.",
    change_rpc_requests(_serve_unused_opnum),
    blind=True,
)
