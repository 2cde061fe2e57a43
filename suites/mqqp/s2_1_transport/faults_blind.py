"""Faults of MS-MQQP 2.1, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytes


@fault("server-connection-refused-while-read-waits", breaks="MQQP-2.1-D01", blind=True)
class ServerConnectionRefusedWhileReadWaits(RpcServing):
    """While one read waits for a message, the server closes every new connection."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: set[str] = set()

    def on_bytes(self, event: RpcBytes, now: Now) -> None:
        if event.connection not in self.known and len(self.qm.remote.RemoteReadEntryCollection):
            self.qm.remote.associations.close_connection(event.connection, "a fault: another client waits")
            return
        self.known.add(event.connection)
        super().on_bytes(event, now)
