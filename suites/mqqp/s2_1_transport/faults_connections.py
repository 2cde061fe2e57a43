"""Faults of MS-MQQP 2.1 Transport that concern later connections, later calls or single users."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.rpc_event_dispatching import RpcEventDispatching
from reference_qm.rpc import EPT, CallReceived, FaultStatus, RpcEvent
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytesReceived


@fault("server-closes-third-simultaneous-rpc-connection", breaks=("MQQP-2.1-01", "MQQP-2.1-D01"), blind=True)
class ServerClosesThirdSimultaneousRpcConnection(RpcEventDispatching):
    """The server closes a connection when two other connections are open."""

    def on_bytes(self, event: RpcBytesReceived, now: Now) -> None:
        known: list[str] = self.__dict__.setdefault("known", [])
        known[:] = [one for one in known if one in self.qm.remote.associations._by_connection]
        if event.connection not in known:
            known.append(event.connection)
        if known.index(event.connection) > 1:
            self.qm.remote.associations.close_connection(event.connection, "a fault")
        else:
            super().on_bytes(event, now)


@fault("server-endpoint-mapper-fails-second-ept-map-of-connection", breaks="MQQP-2.1-02", blind=True)
class ServerEndpointMapperFailsSecondEptMapOfConnection(RpcEventDispatching):
    """The endpoint mapper answers only the first call of ept_map."""

    def carry_out(self, event: RpcEvent, now: Now) -> None:
        if isinstance(event, CallReceived) and event.call.context.interface is EPT:
            if self.__dict__.get("mapped"):
                self.qm.remote.carry_out_outputs(event.call.fault(FaultStatus.NCA_S_OP_RNG_ERROR))
                return
            self.__dict__["mapped"] = True
        super().carry_out(event, now)
