"""Faults of MS-MQQP 3.1.6 Rundown."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.core.remote.remote_opening import RemoteOpening


class _Acknowledging(RemoteEnding):
    def get_rundown_ack(self) -> bool:
        return True


add(
    "server-lost-client-queue-stays-open",
    "MQQP-3.1.6.1-01",
    "The server leaves a queue open when the connection of its client is lost.",
    skip(RemoteOpening.run_down_session),
)
add(
    "server-lost-client-message-stays-locked",
    "MQQP-3.1.6.2-01",
    "The server leaves a received message locked when the connection of its client is lost.",
    skip(RemoteEnding.run_down_remote_read),
)
add(
    "server-lost-client-message-removed",
    "MQQP-3.1.6.2-02",
    "When a client's connection is lost, the server removes the message of its open receive and leaves its queue open.",
    both(skip(RemoteOpening.run_down_session), replace_part(_Acknowledging)),
)
add(
    "server-lost-connection-message-removed",
    "MQQP-3.1.6.2-02",
    "The server removes the message of an open receive when the connection of its client is lost.",
    replace_part(_Acknowledging),
)


@fault("server-lost-client-only-first-message-restored", breaks="MQQP-3.1.6.2-02", blind=True)
class ServerLostClientOnlyFirstMessageRestored(RemoteEnding):
    """When the connection of a client is lost, the server returns only the message of the first unended receive to the
    queue.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._queues: set[int] = set()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.OpenQueueDescriptorHandle not in self._queues:
            self._queues.add(entry.OpenQueueDescriptorHandle)
            super().run_down_remote_read(entry)
