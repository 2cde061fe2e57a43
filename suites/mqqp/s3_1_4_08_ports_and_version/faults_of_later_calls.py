"""Faults of RemoteQMGetQMQMServerPort and RemoteQmGetVersion in later calls and with open queues."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.rpc_calls import call_on_rejected_context
from harness.faults.thrown_refusals import throw_status_as_fault_if
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.enums import PortType
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

PORT_STEP = 11


@fault("server-get-port-returns-port-11-higher-from-second-call", breaks="MQQP-3.1.4.8-D02", blind=True)
class ServerGetPortReturnsPort11HigherFromSecondCall(RemoteQueueOpening):
    """From the second call on, RemoteQMGetQMQMServerPort with IP_READ returns a port that is greater by 11."""

    def remote_qm_get_qmqm_server_port(self, call: Call, now: Now) -> None:
        self.__dict__["calls"] = self.__dict__.get("calls", 0) + (call.arguments["dwPortType"] == PortType.IP_READ)
        super().remote_qm_get_qmqm_server_port(call, now)

    def get_server_port(self, port_type: int) -> int:
        port = super().get_server_port(port_type)
        later = port_type == PortType.IP_READ and self.__dict__.get("calls", 0) > 1
        return port + PORT_STEP if later else port


@fault("server-get-port-returns-0-while-queue-is-open", breaks="MQQP-3.1.4.8-D02", blind=True)
class ServerGetPortReturns0WhileQueueIsOpen(RemoteQueueOpening):
    """RemoteQMGetQMQMServerPort with IP_READ returns 0 while a client has a queue open."""

    def get_server_port(self, port_type: int) -> int:
        busy = port_type == PortType.IP_READ and len(self.qm.remote.OpenQueueEntryCollection)
        return 0 if busy else super().get_server_port(port_type)


add(
    "acceptor-remoteqmgetqmqmserverport-ipx-read-thrown",
    "MQQP-3.1.4.8-D07",
    "RemoteQMGetQMQMServerPort throws an exception for IPX_READ, which the acceptor does not offer.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_get_qmqm_server_port,
        lambda qm, call, port: not port and call.arguments["dwPortType"] == PortType.IPX_READ,
    ),
    blind=True,
)
add(
    "acceptor-remoteqmgetqmqmserverport-later-call-of-ipx-handshake-thrown",
    "MQQP-3.1.4.8-D07",
    "RemoteQMGetQMQMServerPort throws an exception for IPX_HANDSHAKE if the client has an open queue.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_get_qmqm_server_port,
        lambda qm, call, port: (
            not port
            and call.arguments["dwPortType"] == PortType.IPX_HANDSHAKE
            and len(qm.remote.OpenQueueEntryCollection) > 0
        ),
    ),
    blind=True,
)


def _has_client_called_get_version_before(qm: QueueManager, call: Call, status: int) -> bool:
    """Return whether the client has called the method on this connection before."""
    asked: set[int] = qm.__dict__.setdefault("connections_with_version", set())
    known = id(call.association) in asked
    asked.add(id(call.association))
    return known


add(
    "acceptor-remoteqmgetversion-second-call-thrown",
    "MQQP-3.1.4.9-D03",
    "RemoteQmGetVersion throws an exception in the second call on a connection.",
    throw_status_as_fault_if(RemoteQueueOpening.remote_qm_get_version, _has_client_called_get_version_before),
    blind=True,
)
add(
    "acceptor-remoteqmgetversion-beside-open-queue-thrown",
    "MQQP-3.1.4.9-D03",
    "RemoteQmGetVersion throws an exception after the client has opened a queue.",
    throw_status_as_fault_if(
        RemoteQueueOpening.remote_qm_get_version,
        lambda qm, call, status: call.association.group is not None and bool(call.association.group.handles),
    ),
    blind=True,
)
add(
    "initiator-remoteqmgetqmqmserverport-context-rejected",
    "MQQP-3.1.4.8-01",
    "A client calls RemoteQMGetQMQMServerPort on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQMGetQMQMServerPort"),
    blind=True,
)
add(
    "initiator-remoteqmgetqmqmserverport-context-of-third-call-rejected",
    "MQQP-3.1.4.8-01",
    "From the third call of RemoteQMGetQMQMServerPort on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQMGetQMQMServerPort", first_call=3),
    blind=True,
)
add(
    "initiator-remoteqmgetversion-context-rejected",
    "MQQP-3.1.4.9-01",
    "A client calls RemoteQmGetVersion on the presentation context that the server has rejected.",
    call_on_rejected_context("RemoteQmGetVersion"),
    blind=True,
)
add(
    "initiator-remoteqmgetversion-context-of-third-call-rejected",
    "MQQP-3.1.4.9-01",
    "From the third call of RemoteQmGetVersion on, a client uses the rejected presentation context.",
    call_on_rejected_context("RemoteQmGetVersion", first_call=3),
    blind=True,
)
