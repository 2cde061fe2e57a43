"""Faults that break rules of MS-MQQP 3.1.3 Initialization."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytesReceived, RpcConnectionLost

LISTENER_END_MESSAGE = "the listener of DCE/RPC has ended"


@fault("server-rpc-listener-ends-with-invalid-client", breaks="MQQP-3.1.3-01", blind=True)
class ServerRpcListenerEndsWithInvalidClient(RpcEventDispatching):
    """After the server has closed a connection because of invalid bytes, it serves no new RPC connection."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        served: set[str] = self.__dict__.setdefault("served", set())
        if self.__dict__.get("ended") and event.connection not in served:
            self.qm.remote.associations.close_connection(event.connection, LISTENER_END_MESSAGE)
            return
        served.add(event.connection)
        before = len(self.qm.remote.associations)
        super().on_bytes(event, now)
        if len(self.qm.remote.associations) < before:
            self.__dict__["ended"] = True


@fault("server-stops-rpc-listener-when-client-is-lost", breaks="MQQP-3.1.3-01")
class ServerStopsRpcListenerWhenClientIsLost(RpcEventDispatching):
    """After a client with an open queue has lost its connection, the server serves no new RPC connection."""

    def on_connection_lost(self, event: RpcConnectionLost, now: Now) -> None:
        before = len(list(self.qm.remote.OpenQueueEntryCollection))
        super().on_connection_lost(event, now)
        self.__dict__["lost"] = self.__dict__.get("lost") or before > 1

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        served: set[str] = self.__dict__.setdefault("served", set())
        if self.__dict__.get("lost") and event.connection not in served:
            self.qm.remote.associations.close_connection(event.connection, LISTENER_END_MESSAGE)
            return
        served.add(event.connection)
        super().on_bytes(event, now)
