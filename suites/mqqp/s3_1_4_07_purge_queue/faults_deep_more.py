"""Faults of MS-MQQP 3.1.4.7 that only requests after a purge reveal."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.remote_opening import RemoteOpening
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call


@fault("server-purge-after-earlier-purge-does-nothing", breaks="MQQP-3.1.4.7-D01")
class ServerPurgeAfterEarlierPurgeDoesNothing(RemoteOpening):
    """The server carries out only the first purge through a queue handle; for later purges, it returns MQ_OK and does
    nothing.
    """

    purged: frozenset[int] = frozenset()

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        if call.arguments["hQueue"] in self.purged:
            self.qm.remote.note(call.respond(Return=Status.MQ_OK))
            return
        self.purged |= {call.arguments["hQueue"]}
        super().purge_remote_queue(call, queue)


@fault("server-messages-after-purge-refused", breaks=("MQQP-3.1.4.7-10", "MQQP-3.1.4.7-D01"))
class ServerMessagesAfterPurgeRefused(RemoteOpening):
    """The server refuses every message that arrives after a purge."""

    def purge_remote_queue(self, call: Call, queue: Queue) -> None:
        super().purge_remote_queue(call, queue)
        queue.Quota = 0
