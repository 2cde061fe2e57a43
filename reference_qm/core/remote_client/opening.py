"""Remote queues are opened, purged and closed. Spec: MS-MQQP 3.2.4.1, 3.2.4.4, 3.2.4.9, MS-MQMP 3.2.4.7.

The application and its supporting server are one here: R_QMOpenRemoteQueue, whose results are the inputs of 3.2.4.1,
is called just before, and R_QMCloseRemoteQueueContext just after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.core.remote_client.binding import bind_to_server, call_method, then_close
from reference_qm.core.remote_client.model import RemoteError, RemoteOpenQueueEntry, RemoteQueue, Sequence
from reference_qm.core.remote_client.running import Binding, Resolve
from reference_qm.rpc import QM2QM, QMCOMM
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager


def open_for_application(
    qm: QueueManager, queue: RemoteQueue, host: str | None, queue_format: dict[str, Any], share: ShareMode
) -> Sequence:
    """Open a queue at its queue manager, then for reading it from here. Spec: MS-MQMP 3.2.4.7, 4.2.

    ``host``: a name to resolve first; None when queue.RemoteServer is known.
    """
    if host is not None:
        address = yield Resolve(host)
        queue.RemoteServer = Endpoint(address, queue.RemoteServer.port)
    application = yield from bind_to_server(qm, queue.RemoteServer, QMCOMM)
    yield from then_close(qm, application, _open_twice(qm, application, queue, queue_format, share))
    qm.remote_client.queues[queue.number] = queue
    return queue


def _open_twice(
    qm: QueueManager, application: Binding, queue: RemoteQueue, queue_format: dict[str, Any], share: ShareMode
) -> Sequence:
    results = yield from call_method(
        qm,
        application,
        "R_QMOpenRemoteQueue",
        pQueueFormat=queue_format,
        dwCallingProcessID=0,
        dwDesiredAccess=int(DesiredAccess.MQ_RECEIVE_ACCESS if queue.receives else DesiredAccess.MQ_PEEK_ACCESS),
        dwShareMode=int(share),
        pLicGuid=qm.adm.Identifier,
        dwMQS=0,
    )
    queue.QueueHandle, queue.QueueDescriptor = results["phQueue"], results["dwpQueue"]
    queue.OpenContext = results["pdwContext"]
    closing = {"pphContext": results["pphContext"]}
    try:
        yield from qm.procedures.open_queue_at_server(qm, queue)
    except RemoteError:
        yield from call_method(qm, application, "R_QMCloseRemoteQueueContext", **closing)
        raise
    yield from call_method(qm, application, "R_QMCloseRemoteQueueContext", **closing)


def open_queue_at_server(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Opening a Queue. Spec: MS-MQQP 3.2.4.1."""
    queue.binding = yield from bind_to_server(qm, queue.RemoteServer, QM2QM)
    try:
        context = yield from qm.procedures.call_open_queue(qm, queue)
    except RemoteError:
        yield from qm.procedures.close_binding(qm, queue.binding)
        raise
    qm.procedures.add_remote_open_queue(qm, queue, context)


def call_open_queue(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Call RemoteQMOpenQueue; after five minutes it is cancelled. Returns phContext. Spec: MS-MQQP 3.2.4.1."""
    assert queue.binding is not None
    arguments = qm.procedures.build_open_queue(qm, queue)
    results = yield from call_method(qm, queue.binding, "RemoteQMOpenQueue", **arguments)
    return results["phContext"]


def build_open_queue(qm: QueueManager, queue: RemoteQueue) -> dict[str, Any]:
    """Give the parameters of RemoteQMOpenQueue; the document calls dwpContext dwContext. Spec: MS-MQQP 3.2.4.1."""
    machine = qm.enterprise.state.LocalQueueManager
    return {
        "pLicGuid": qm.adm.Identifier,
        "dwMQS": int(bool(machine.RoutingServer or machine.DirectoryServer)),
        "hQueue": queue.QueueHandle,
        "pQueue": queue.QueueDescriptor,
        "dwpContext": queue.OpenContext,
    }


def add_remote_open_queue(qm: QueueManager, queue: RemoteQueue, context: UUID | None) -> None:
    """Note that a remote queue is open. Spec: MS-MQQP 3.2.4.1."""
    entry = RemoteOpenQueueEntry(OpenQueueDescriptorHandle=queue.QueueHandle, RRSessionHandle=context, queue=queue)
    qm.remote_client.RemoteOpenQueueEntryCollection.append(entry)


def find_remote_open_queue(qm: QueueManager, queue: RemoteQueue) -> RemoteOpenQueueEntry:
    """Find the entry of an open queue; RemoteError when there is none. Spec: MS-MQQP 3.2.4.9.

    By QueueHandle and by server: two servers may give the same handle.
    """
    for entry in qm.remote_client.RemoteOpenQueueEntryCollection:
        if entry.OpenQueueDescriptorHandle == queue.QueueHandle and entry.queue is queue:
            return entry
    raise RemoteError(f"{queue.FormatName!a} is not open (MS-MQQP 3.2.4.9)")


def purge_queue_at_server(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Purging a Queue. Spec: MS-MQQP 3.2.4.4."""
    assert queue.binding is not None
    yield from call_method(qm, queue.binding, "RemoteQMPurgeQueue", hQueue=queue.QueueHandle)


def close_queue_at_server(qm: QueueManager, queue: RemoteQueue) -> Sequence:
    """Closing a Queue. Spec: MS-MQQP 3.2.4.9, 3.2.4.1 (the binding handle is closed with it).

    It says that the entry is removed from rPendingRemoteReadEntryCollection, where it never was; meant is
    rRemoteOpenQueueEntryCollection.
    """
    assert queue.binding is not None
    entry = qm.procedures.find_remote_open_queue(qm, queue)
    yield from then_close(qm, queue.binding, _close_open_queue(qm, queue.binding, entry))


def _close_open_queue(qm: QueueManager, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
    yield from qm.procedures.cancel_every_pending_read(qm, entry.queue)
    try:
        yield from qm.procedures.call_close_queue(qm, binding, entry)
    except RemoteError:
        qm.procedures.remove_remote_open_queue(qm, entry)
        raise
    qm.procedures.remove_remote_open_queue(qm, entry)


def call_close_queue(qm: QueueManager, binding: Binding, entry: RemoteOpenQueueEntry) -> Sequence:
    """Call RemoteQMCloseQueue with the handle of an open queue. Spec: MS-MQQP 3.2.4.9."""
    yield from call_method(qm, binding, "RemoteQMCloseQueue", pphContext=entry.RRSessionHandle)


def remove_remote_open_queue(qm: QueueManager, entry: RemoteOpenQueueEntry) -> None:
    """Forget a remote queue that is closed. Spec: MS-MQQP 3.2.4.9."""
    qm.remote_client.RemoteOpenQueueEntryCollection.remove(entry)
