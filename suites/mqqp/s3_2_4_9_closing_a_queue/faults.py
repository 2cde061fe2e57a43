"""Faults of MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import skip, skip_sequence
from harness.faults.registry import add
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Binding, Sequence

OTHER_HANDLE = UUID(int=0xBAD)


@fault("remote-close-another-queue", breaks="MQQP-3.2.4.9-02")
class AnotherQueueClosed(ClientOpening):
    """The queue that was opened last is closed."""

    def find_remote_open_queue(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        return self.qm.remote_client.RemoteOpenQueueEntryCollection[-1]


add(
    "remote-close-not-called",
    ("MQQP-3.2.4.9-05", "MQQP-2.2.1.1-01", "MQQP-3.1.4.4-01"),
    "RemoteQMCloseQueue is not called.",
    skip_sequence(ClientOpening.call_close_queue),
)


@fault("remote-close-other-session", breaks="MQQP-3.2.4.9-06")
class OtherSession(ClientOpening):
    """pphContext of RemoteQMCloseQueue is another handle."""

    def call_close_queue(self, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
        yield from super().call_close_queue(binding, replace(entry, RRSessionHandle=OTHER_HANDLE))


add(
    "remote-close-entry-stays",
    "MQQP-3.2.4.9-07",
    "The entry of a closed queue stays.",
    skip(ClientOpening.remove_remote_open_queue),
)


@fault("closing-client-cancels-its-first-read", breaks=("MQQP-3.2.4.9-04",), blind=True)
class ClosingClientCancelsItsFirstRead(ClientCancelling):
    """Every RemoteQMCancelReceive of a queue names the first of its reads."""

    def build_cancel_receive(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        described = super().build_cancel_receive(entry)
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        self.first = getattr(self, "first", next(one.RequestId for one in pending if one.queue is entry.queue))
        return described | {"dwRequestID": self.first}
