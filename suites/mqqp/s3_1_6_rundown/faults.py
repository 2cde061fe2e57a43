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
    "remote-close-rundown-left-out",
    "MQQP-3.1.6.1-01",
    "A client that is gone leaves its queue open.",
    skip(RemoteOpening.run_down_session),
)
add(
    "remote-end-rundown-left-out",
    "MQQP-3.1.6.2-01",
    "A client that is gone leaves its message locked.",
    skip(RemoteEnding.run_down_remote_read),
)
add(
    "remote-end-rundown-acknowledges",
    "MQQP-3.1.6.2-02",
    "A client that is gone has got its message.",
    both(skip(RemoteOpening.run_down_session), replace_part(_Acknowledging)),
)
add(
    "remote-read-rundown-acknowledges",
    "MQQP-3.1.6.2-02",
    "A client whose connection ends has got its message, while the queue stays open.",
    replace_part(_Acknowledging),
)


@fault("one-message-of-a-client-that-is-gone-given-back", breaks="MQQP-3.1.6.2-02", blind=True)
class OneMessageOfAClientThatIsGoneGivenBack(RemoteEnding):
    """Of the messages that a client held when it went only the first is given back."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._queues: set[int] = set()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        if entry.OpenQueueDescriptorHandle not in self._queues:
            self._queues.add(entry.OpenQueueDescriptorHandle)
            super().run_down_remote_read(entry)
