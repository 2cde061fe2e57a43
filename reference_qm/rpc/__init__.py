"""Implements both sides of DCE/RPC over a connection, without I/O: bytes are its input, and calls and bytes are its
output.

``RpcServer.accept`` makes an ``Association`` for each connection. The methods of associations and calls return
outputs in order: effects for the connection (SendBytes, CloseAssociation) and events for the dispatcher
(CallReceived, CallCancelled, CallOrphaned, HandleRundown). Spec: C706; MS-RPCE.
"""

from reference_qm.rpc.association import Association
from reference_qm.rpc.calls import Call
from reference_qm.rpc.events import (
    CallCancelled,
    CallOrphaned,
    CallReceived,
    CloseAssociation,
    HandleRundown,
    RpcEffect,
    RpcEvent,
    RpcOutput,
    SendBytes,
)
from reference_qm.rpc.groups import ContextHandle
from reference_qm.rpc.interfaces import EPT, QM2QM, QMCOMM, Interface, Method
from reference_qm.rpc.limits import AssociationLimits
from reference_qm.rpc.rpc_errors import PduError, StubError
from reference_qm.rpc.server import RpcServer
from reference_qm.rpc.status import FaultStatus

__all__ = [
    "EPT",
    "QM2QM",
    "QMCOMM",
    "Association",
    "AssociationLimits",
    "Call",
    "CallCancelled",
    "CallOrphaned",
    "CallReceived",
    "CloseAssociation",
    "ContextHandle",
    "FaultStatus",
    "HandleRundown",
    "Interface",
    "Method",
    "PduError",
    "RpcEffect",
    "RpcEvent",
    "RpcOutput",
    "RpcServer",
    "SendBytes",
    "StubError",
]
