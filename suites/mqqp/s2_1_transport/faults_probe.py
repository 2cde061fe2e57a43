"""Faults of MS-MQQP 2.1 Transport, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.rpc_serving import RpcServing
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import RpcBytes, RpcLost


@fault("server-connection-refused-after-client-lost-with-open-queue", breaks="MQQP-2.1-D01", blind=True)
class ServerConnectionRefusedAfterClientLostWithOpenQueue(RpcServing):
    """After the connection of a client was lost while a queue was open for remote reading, the server closes every new
    connection.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.known: set[str] = set()
        self.refusing = False

    def on_lost(self, event: RpcLost, now: Now) -> None:
        if event.connection in self.known and len(self.qm.remote.OpenQueueEntryCollection):
            self.refusing = True
        super().on_lost(event, now)

    def on_bytes(self, event: RpcBytes, now: Now) -> None:
        if self.refusing and event.connection not in self.known:
            self.qm.remote.associations.close_connection(event.connection, "a fault")
            return
        self.known.add(event.connection)
        super().on_bytes(event, now)
