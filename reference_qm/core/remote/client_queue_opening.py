from __future__ import annotations

from typing import Any
from uuid import UUID

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.client_model import RemoteOpenQueueEntry, RemoteQueue
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError, ResolveHostStep, RpcBindingHandle
from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.rpc import QM2QM, QMCOMM
from reference_qm.surface.inputs import Endpoint


class ClientQueueOpening(QueueManagerPart):
    """Opens, purges and closes remote queues. Spec: MS-MQQP 3.2.4.1, 3.2.4.4, 3.2.4.9, MS-MQMP 3.2.4.7.

    Here the application needs no separate supporting server. R_QMOpenRemoteQueue, which returns the inputs of
    3.2.4.1, is called just before the steps of 3.2.4.1, and R_QMCloseRemoteQueueContext is called just after them.
    """

    __slots__ = ()

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        """Open a queue at its queue manager, and then open the queue for remote reading. Spec: MS-MQMP 3.2.4.7,
        4.2.

        ``host`` is a host name to resolve first, or None if queue.RemoteServer is already known.
        """
        if host is not None:
            address = yield ResolveHostStep(host)
            queue.RemoteServer = Endpoint(address, queue.RemoteServer.port)
        application = yield from self.qm.server_bindings.bind_to_server(queue.RemoteServer, QMCOMM)
        yield from self.qm.server_bindings.run_sequence_and_close_binding(
            application, self._open_with_both_interfaces(application, queue, queue_format, share)
        )
        self.qm.remote_client.queues[queue.number] = queue
        return queue

    def _open_with_both_interfaces(
        self, application: RpcBindingHandle, queue: RemoteQueue, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        results = yield from self.qm.server_bindings.call_method(
            application,
            "R_QMOpenRemoteQueue",
            pQueueFormat=queue_format,
            dwCallingProcessID=0,
            dwDesiredAccess=int(DesiredAccess.MQ_RECEIVE_ACCESS if queue.may_receive else DesiredAccess.MQ_PEEK_ACCESS),
            dwShareMode=int(share),
            pLicGuid=self.qm.adm.Identifier,
            dwMQS=0,
        )
        queue.QueueHandle, queue.QueueDescriptor = results["phQueue"], results["dwpQueue"]
        queue.OpenContext = results["pdwContext"]
        closing = {"pphContext": results["pphContext"]}
        try:
            yield from self.open_queue_at_server(queue)
        except RemoteError:
            yield from self.qm.server_bindings.call_method(application, "R_QMCloseRemoteQueueContext", **closing)
            raise
        yield from self.qm.server_bindings.call_method(application, "R_QMCloseRemoteQueueContext", **closing)

    def open_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Open a queue at its server. Spec: MS-MQQP 3.2.4.1."""
        queue.binding = yield from self.qm.server_bindings.bind_to_server(queue.RemoteServer, QM2QM)
        try:
            context = yield from self.call_open_queue(queue)
        except RemoteError:
            yield from self.qm.server_bindings.close_binding(queue.binding)
            raise
        self.add_remote_open_queue_entry(queue, context)

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Call RemoteQMOpenQueue and return its phContext. The call is cancelled after five minutes. Spec: MS-MQQP
        3.2.4.1.
        """
        assert queue.binding is not None
        arguments = self.build_open_queue_arguments(queue)
        results = yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMOpenQueue", **arguments)
        return results["phContext"]

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        """Return the arguments for RemoteQMOpenQueue. MS-MQQP 3.2.4.1 spells the name of the argument dwpContext as
        dwContext.

        Spec: MS-MQQP 3.2.4.1.
        """
        machine = self.qm.enterprise.state.LocalQueueManager
        return {
            "pLicGuid": self.qm.adm.Identifier,
            "dwMQS": int(bool(machine.RoutingServer or machine.DirectoryServer)),
            "hQueue": queue.QueueHandle,
            "pQueue": queue.QueueDescriptor,
            "dwpContext": queue.OpenContext,
        }

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        """Add the entry of a remote queue that was opened. Spec: MS-MQQP 3.2.4.1."""
        entry = RemoteOpenQueueEntry(OpenQueueDescriptorHandle=queue.QueueHandle, RRSessionHandle=context, queue=queue)
        self.qm.remote_client.RemoteOpenQueueEntryCollection.append(entry)

    def find_remote_open_queue_entry(self, queue: RemoteQueue) -> RemoteOpenQueueEntry:
        """Return the entry of an open queue; raise RemoteError if the queue is not open. Spec: MS-MQQP 3.2.4.9.

        The search compares the server in addition to QueueHandle, because two servers may return the same handle.
        """
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            if entry.OpenQueueDescriptorHandle == queue.QueueHandle and entry.queue is queue:
                return entry
        raise RemoteError(f"{queue.FormatName!a} is not open (MS-MQQP 3.2.4.9)")

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Purge a queue at its server. Spec: MS-MQQP 3.2.4.4."""
        assert queue.binding is not None
        yield from self.qm.server_bindings.call_method(queue.binding, "RemoteQMPurgeQueue", hQueue=queue.QueueHandle)

    def close_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        """Close a queue at its server, and close the binding handle. Spec: MS-MQQP 3.2.4.9, 3.2.4.1.

        The document removes the entry from rPendingRemoteReadEntryCollection, which never contains the entry. Here
        the entry is removed from rRemoteOpenQueueEntryCollection.
        """
        assert queue.binding is not None
        entry = self.find_remote_open_queue_entry(queue)
        yield from self.qm.server_bindings.run_sequence_and_close_binding(
            queue.binding, self._close_open_queue(queue.binding, entry)
        )

    def _close_open_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        yield from self.qm.client_read_cancelling.cancel_every_pending_read(entry.queue)
        try:
            yield from self.call_close_queue(binding, entry)
        except RemoteError:
            self.remove_remote_open_queue_entry(entry)
            raise
        self.remove_remote_open_queue_entry(entry)

    def call_close_queue(self, binding: RpcBindingHandle, entry: RemoteOpenQueueEntry) -> RemoteCallSequence:
        """Call RemoteQMCloseQueue with the handle of an open queue. Spec: MS-MQQP 3.2.4.9."""
        yield from self.qm.server_bindings.call_method(binding, "RemoteQMCloseQueue", pphContext=entry.RRSessionHandle)

    def remove_remote_open_queue_entry(self, entry: RemoteOpenQueueEntry) -> None:
        """Remove the entry of a closed remote queue. Spec: MS-MQQP 3.2.4.9."""
        self.qm.remote_client.RemoteOpenQueueEntryCollection.remove(entry)
