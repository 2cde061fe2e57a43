"""What DCE/RPC brings, and who carries it out. Spec: MS-MQQP 3.1.3, 3.1.4, 3.1.6; MS-MQMP 3.1.4, 3.1.7.2."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import AddressValueError, IPv4Address
from typing import TYPE_CHECKING, Any

from reference_qm.core.remote.associations import Associations
from reference_qm.core.remote.model import (
    EntryCollection,
    OpenQueueEntry,
    RemoteQueueOpenContextHandle,
    RemoteReadEntry,
)
from reference_qm.model.timers import Timers
from reference_qm.rpc import (
    EPT,
    QM2QM,
    QMCOMM,
    Call,
    CallCancelled,
    CallOrphaned,
    CallReceived,
    FaultStatus,
    HandleRundown,
    RpcEvent,
    RpcOutput,
    RpcServer,
)
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint
from reference_qm.surface.entropy import Entropy
from reference_qm.surface.inputs import RpcAccepted, RpcBytes, RpcListening, RpcLost

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now

INTERFACES = (QM2QM, QMCOMM, EPT)
"""What every port serves: clients call qm2qm methods at the port that qmcomm gave them, and the other way round."""


class RemoteReading:
    """The server's side of remote reading: associations and the collections of MS-MQQP 3.1.1 and MS-MQMP 3.1.1."""

    def __init__(self, entropy: Entropy, timers: Timers) -> None:
        self.associations = Associations(RpcServer(INTERFACES, entropy), timers)
        self.RemoteReadEntryCollection = EntryCollection[RemoteReadEntry]()
        self.OpenQueueEntryCollection = EntryCollection[OpenQueueEntry]()
        self.RemoteQueueOpenContextHandleTable: dict[RemoteQueueOpenContextHandle, None] = {}
        self.reads: dict[Call, RemoteReadEntry] = {}
        """The reads whose calls are not answered."""

    def note(self, outputs: Iterable[RpcOutput]) -> None:
        """Note what follows from an answered call: it is carried out at the end of the input."""
        self.associations.note(outputs)


def on_listening(qm: QueueManager, event: RpcListening, now: Now) -> None:
    """Note the ports. Spec: MS-MQQP 3.1.3."""
    qm.rpc_listening = event


def on_accepted(qm: QueueManager, event: RpcAccepted, now: Now) -> None:
    """Take a new connection."""
    qm.remote.associations.accept(event, now)


def on_bytes(qm: QueueManager, event: RpcBytes, now: Now) -> None:
    """Take the bytes of a connection."""
    qm.remote.associations.receive(event, now)


def on_lost(qm: QueueManager, event: RpcLost, now: Now) -> None:
    """Forget a connection. Spec: MS-MQQP 3.1.6."""
    qm.remote.associations.lose(event)


RPC_INPUTS: dict[type, Callable[[QueueManager, Any, Now], None]] = {
    RpcListening: on_listening,
    RpcAccepted: on_accepted,
    RpcBytes: on_bytes,
    RpcLost: on_lost,
}
"""The inputs of DCE/RPC, for ``reference_qm.core.queue_manager``."""


def carry_out(qm: QueueManager, now: Now) -> None:
    """Send what was answered, and let calls, cancels and rundowns be carried out."""
    qm.remote.associations.carry_out(qm.emit, lambda event: _dispatch(qm, event, now))


def _dispatch(qm: QueueManager, event: RpcEvent, now: Now) -> None:
    match event:
        case CallReceived(call) if qm.halted is not None:
            qm.remote.note(call.fault(FaultStatus.NCA_S_SERVER_TOO_BUSY))
        case CallReceived(call) if call.context.interface is EPT:
            qm.remote.note(EndpointMapper(mapped(qm.rpc_listening))(event))
        case CallReceived(call):
            carry_out_call: Callable[[QueueManager, Call, Now], None] = getattr(
                qm.procedures, PROCEDURES[call.method.name]
            )
            carry_out_call(qm, call, now)
        case CallCancelled(call):
            qm.procedures.cancel_call(qm, call)
        case CallOrphaned(call):
            qm.procedures.orphan_call(qm, call)
        case HandleRundown(handle):
            run_down: Callable[[QueueManager, object], None] = getattr(qm.procedures, RUNDOWNS[handle.kind])
            run_down(qm, handle.state)


def mapped(listening: RpcListening | None) -> list[MappedEndpoint]:
    """Return what the endpoint mapper knows. A tower has room for an IPv4 address; for another it has 0.0.0.0."""
    if listening is None:
        return []
    served = ((QMCOMM, listening.handshake), (QM2QM, listening.read))
    return [MappedEndpoint(interface, _ipv4(endpoint.host), endpoint.port) for interface, endpoint in served]


def _ipv4(host: str) -> IPv4Address:
    try:
        return IPv4Address(host)
    except AddressValueError:
        return IPv4Address(0)


PROCEDURES = {
    "RemoteQMStartReceive": "remote_qm_start_receive",
    "RemoteQMEndReceive": "remote_qm_end_receive",
    "RemoteQMOpenQueue": "remote_qm_open_queue",
    "RemoteQMCloseQueue": "remote_qm_close_queue",
    "RemoteQMCloseCursor": "remote_qm_close_cursor",
    "RemoteQMCancelReceive": "remote_qm_cancel_receive",
    "RemoteQMPurgeQueue": "remote_qm_purge_queue",
    "RemoteQMGetQMQMServerPort": "remote_qm_get_qmqm_server_port",
    "RemoteQmGetVersion": "remote_qm_get_version",
    "RemoteQMStartReceive2": "remote_qm_start_receive2",
    "RemoteQMStartReceiveByLookupId": "remote_qm_start_receive_by_lookup_id",
    "R_QMOpenRemoteQueue": "r_qm_open_remote_queue",
    "R_QMCloseRemoteQueueContext": "r_qm_close_remote_queue_context",
    "R_QMCreateRemoteCursor": "r_qm_create_remote_cursor",
    "R_QMGetObjectProperties": "r_qm_get_object_properties",
    "R_QMGetRTQMServerPort": "r_qm_get_rtqm_server_port",
}
"""The procedure that carries out each method."""

RUNDOWNS = {
    "PCTX_RRSESSION_HANDLE_TYPE": "run_down_session",
    "PCTX_REMOTEREAD_HANDLE_TYPE": "run_down_remote_read",
    "PCTX_OPENREMOTE_HANDLE_TYPE": "run_down_open_remote",
}
"""The procedure for the context handles that a client leaves behind. Spec: MS-MQQP 3.1.6, MS-MQMP 3.1.7.2."""
