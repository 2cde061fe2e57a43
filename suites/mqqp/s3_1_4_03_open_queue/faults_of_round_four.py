"""Faults that break rules of MS-MQQP 3.1.4.3 when a queue is opened again."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.remote_queue_opening import RemoteQueueOpening
from reference_qm.model.statuses import Status
from reference_qm.rpc import QM2QM, Call
from reference_qm.surface.clock import Now


@fault("server-second-open-queue-of-client-returns-first-context-handle", breaks="MQQP-3.1.4.3-16", blind=True)
class ServerSecondOpenQueueOfClientReturnsFirstContextHandle(RemoteQueueOpening):
    """The server answers the second RemoteQMOpenQueue of a client for the same descriptor with the context handle of
    the first call, without a new entry.
    """

    def remote_qm_open_queue(self, call: Call, now: Now) -> None:
        given = call.arguments
        handle = self.choose_descriptor_handle(given["hQueue"], given["dwpContext"])
        group = call.association.group
        valid = given["pQueue"] == given["dwpContext"]
        for known in list(group.handles.values()) if group is not None and valid else []:
            entry = known.state
            if (
                entry in self.qm.remote.OpenQueueEntryCollection.list_entries_of_handle(handle)
                and entry.ClientId == given["pLicGuid"]
            ):
                self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, phContext=known))
                return
        super().remote_qm_open_queue(call, now)


@fault("client-omits-remote-qm-open-queue-for-reopened-queue", breaks="MQQP-3.1.4.3-05", blind=True)
class ClientOmitsRemoteQmOpenQueueForReopenedQueue(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue for a queue that it opens again after it closed the queue, and then
    calls RemoteQMCloseCursor with the new handle.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.closed_names: set[str] = set()

    def remove_remote_open_queue_entry(self, entry: RemoteOpenQueueEntry) -> None:
        self.closed_names.add(entry.queue.FormatName.lower())
        super().remove_remote_open_queue_entry(entry)

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if queue.FormatName.lower() not in self.closed_names:
            yield from super().open_queue_at_server(queue)
            return
        queue.binding = yield from self.qm.server_bindings.bind_to_server(queue.RemoteServer, QM2QM)
        self.add_remote_open_queue_entry(queue, None)
