from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from reference_qm.core.events import RpcEventOccurred
from reference_qm.core.part import QM, QueueManagerPart
from reference_qm.core.remote.associations import ServerAssociations
from reference_qm.core.remote.model import (
    HandleEntryCollection,
    OpenQueueEntry,
    RemoteQueueOpenContextHandle,
    RemoteReadEntry,
)
from reference_qm.model.timers import Timers
from reference_qm.model.unfinished import UnfinishedPacketByteCounts
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
from reference_qm.rpc.authentication import NO_SECURITY, ServerSecurity
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseRpcConnection, SendRpcBytes
from reference_qm.surface.entropy import Entropy
from reference_qm.surface.inputs import RpcBytesReceived, RpcConnectionLost, RpcListening

HARDENED_SECURITY_REFUSAL_REASON = "hardened security mode allows no RPC (MS-MQDMPR 3.1.1.1)"
METHODS_FOR_ANY_AUTHENTICATION_LEVEL = frozenset({"RemoteQMGetQMQMServerPort", "R_QMGetRTQMServerPort"})
"""The methods that do not require an authentication level (MS-MQQP 5, MS-MQMP 5.1)."""
SERVED_INTERFACES = (QM2QM, QMCOMM, EPT)
"""The interfaces that are available at every port. Clients also call methods of qm2qm at the port of qmcomm, and
vice versa.
"""


class RemoteReadingServerState:
    """The state of the server for remote reading: associations, and the collections of MS-MQQP 3.1.1 and MS-MQMP
    3.1.1.
    """

    def __init__(
        self,
        entropy: Entropy,
        timers: Timers,
        unfinished: UnfinishedPacketByteCounts,
        emit: Callable[[SendRpcBytes | CloseRpcConnection], None],
        post: Callable[[RpcEventOccurred], None],
        security: ServerSecurity = NO_SECURITY,
        *,
        strict: bool = True,
    ) -> None:
        server = RpcServer(SERVED_INTERFACES, entropy, security=security, strict=strict)
        self.associations: ServerAssociations = ServerAssociations(server, timers, unfinished, emit, post)
        self.RemoteReadEntryCollection = HandleEntryCollection[RemoteReadEntry]()
        self.OpenQueueEntryCollection = HandleEntryCollection[OpenQueueEntry]()
        self.RemoteQueueOpenContextHandleTable: dict[RemoteQueueOpenContextHandle, None] = {}
        self.reads: dict[Call, RemoteReadEntry] = {}
        """The reads whose calls have not been answered, by call."""

    def carry_out_outputs(self, outputs: Iterable[RpcOutput]) -> None:
        """Carry out the outputs that the answer to a call has produced."""
        self.associations.carry_out_outputs(outputs)


class RpcEventDispatching(QueueManagerPart):
    """Passes the events of DCE/RPC to the methods that carry them out.

    Spec: MS-MQQP 3.1.3, 3.1.4, 3.1.6; MS-MQMP 3.1.4, 3.1.7.2.
    """

    __slots__ = ()

    def on_listening(self, event: RpcListening, now: Now) -> None:
        """Record the ports that the host opened for RPC. Spec: MS-MQQP 3.1.3."""
        self.qm.rpc_listening = event

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        """Handle bytes that were received on a connection. Spec: MS-MQQP 2.1, MS-MQDMPR 3.1.1.1 (HardenedSecurity)."""
        if self.qm.adm.HardenedSecurity:
            self.qm.remote.associations.close_connection(event.connection, HARDENED_SECURITY_REFUSAL_REASON)
            return
        self.qm.remote.associations.receive(event, now)

    def on_connection_lost(self, event: RpcConnectionLost, now: Now) -> None:
        """Remove a lost connection. Spec: MS-MQQP 3.1.6."""
        self.qm.remote.associations.remove_connection(event)

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        """Carry out a call, a cancel or a rundown. Spec: MS-MQQP 3.1.4, 3.1.6, MS-MQMP 3.1.4, 3.1.7.2."""
        match event:
            case CallReceived(call) if self.qm.halted is not None:
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_SERVER_TOO_BUSY))
            case CallReceived(call) if call.context.interface is EPT:
                self.qm.remote.carry_out_outputs(EndpointMapper(list_endpoints(self.qm.rpc_listening))(event))
            case CallReceived(call) if not self.is_method_supported(call):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.NCA_S_OP_RNG_ERROR))
            case CallReceived(call) if not self.has_required_authentication_level(call):
                self.qm.remote.carry_out_outputs(call.fault(FaultStatus.ACCESS_DENIED))
            case CallReceived(call):
                HANDLER_BY_METHOD_NAME[call.method.name](self.qm)(call, now)
            case CallCancelled(call):
                self.qm.remote_read_ending.end_read_of_cancelled_call(call)
            case CallOrphaned(call):
                self.qm.remote_read_ending.end_read_of_orphaned_call(call)
            case HandleRundown(handle):
                RUNDOWN_HANDLER_BY_HANDLE_TYPE[handle.kind](self.qm)(handle.state)

    def is_method_supported(self, call: Call) -> bool:
        """Return whether the server supports the method of a call. Only old releases do not support all methods.
        Spec: MS-MQQP 1.7, note <2>.
        """
        return True

    def has_required_authentication_level(self, call: Call) -> bool:
        """Return whether a call has the required authentication level. Spec: MS-MQQP 5, MS-MQMP 5.1.

        The methods that return a port do not require a level, because clients call them before they set up
        security.
        """
        return (
            call.method.name in METHODS_FOR_ANY_AUTHENTICATION_LEVEL
            or call.level >= self.qm.config.rpc_server.least_level
        )


def list_endpoints(listening: RpcListening | None) -> list[MappedEndpoint]:
    """Return the endpoints that the endpoint mapper lists.

    A tower contains an IPv4 address. The address 0.0.0.0 stands for any other address.
    """
    if listening is None:
        return []
    served = ((QMCOMM, listening.handshake), (QM2QM, listening.read))
    return [
        MappedEndpoint(interface, _parse_ipv4_or_zero(endpoint.host), endpoint.port) for interface, endpoint in served
    ]


def _parse_ipv4_or_zero(host: str) -> IPv4Address:
    try:
        return IPv4Address(host)
    except AddressValueError:
        return IPv4Address(0)


HANDLER_BY_METHOD_NAME: Mapping[str, Callable[[QM], Callable[[Call, Now], None]]] = {
    "RemoteQMStartReceive": lambda qm: qm.remote_read_starting.remote_qm_start_receive,
    "RemoteQMEndReceive": lambda qm: qm.remote_read_ending.remote_qm_end_receive,
    "RemoteQMOpenQueue": lambda qm: qm.remote_queue_opening.remote_qm_open_queue,
    "RemoteQMCloseQueue": lambda qm: qm.remote_queue_opening.remote_qm_close_queue,
    "RemoteQMCloseCursor": lambda qm: qm.remote_queue_opening.remote_qm_close_cursor,
    "RemoteQMCancelReceive": lambda qm: qm.remote_read_ending.remote_qm_cancel_receive,
    "RemoteQMPurgeQueue": lambda qm: qm.remote_queue_opening.remote_qm_purge_queue,
    "RemoteQMGetQMQMServerPort": lambda qm: qm.remote_queue_opening.remote_qm_get_qmqm_server_port,
    "RemoteQmGetVersion": lambda qm: qm.remote_queue_opening.remote_qm_get_version,
    "RemoteQMStartReceive2": lambda qm: qm.remote_read_starting.remote_qm_start_receive2,
    "RemoteQMStartReceiveByLookupId": lambda qm: qm.remote_read_starting.remote_qm_start_receive_by_lookup_id,
    "R_QMOpenRemoteQueue": lambda qm: qm.qmcomm_methods.r_qm_open_remote_queue,
    "R_QMCloseRemoteQueueContext": lambda qm: qm.qmcomm_methods.r_qm_close_remote_queue_context,
    "R_QMCreateRemoteCursor": lambda qm: qm.qmcomm_methods.r_qm_create_remote_cursor,
    "R_QMGetObjectProperties": lambda qm: qm.object_properties.r_qm_get_object_properties,
    "R_QMGetRTQMServerPort": lambda qm: qm.qmcomm_methods.r_qm_get_rtqm_server_port,
}
"""The handler of each method, by the method's name on the wire."""


RUNDOWN_HANDLER_BY_HANDLE_TYPE: Mapping[str, Callable[[QM], Callable[[Any], None]]] = {
    "PCTX_RRSESSION_HANDLE_TYPE": lambda qm: qm.remote_queue_opening.run_down_session,
    "PCTX_REMOTEREAD_HANDLE_TYPE": lambda qm: qm.remote_read_ending.run_down_remote_read,
    "PCTX_OPENREMOTE_HANDLE_TYPE": lambda qm: qm.qmcomm_methods.run_down_open_remote,
}
"""For each kind of context handle: the method that is called when the client has disconnected. Spec: MS-MQQP 3.1.6,
MS-MQMP 3.1.7.2.
"""
