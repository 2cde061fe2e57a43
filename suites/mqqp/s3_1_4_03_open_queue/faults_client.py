"""Faults of clients that do not call RemoteQMOpenQueue for each opening of a queue: rules of MS-MQQP 3.1.4.2, 3.1.4.3,
3.1.4.6, 3.1.4.7 and 3.2.4.1.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault, override_method, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteQueue, RemoteRead
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RpcBindingHandle
from reference_qm.surface.inputs import Endpoint

_RULES_OF_CALLS_AFTER_OPEN_QUEUE = (
    "MQQP-3.1.4.3-02",
    "MQQP-3.1.4.3-03",
    "MQQP-3.1.4.3-04",
    "MQQP-3.1.4.3-05",
    "MQQP-3.1.4.3-06",
    "MQQP-3.1.4.3-08",
    "MQQP-3.1.4.3-09",
    "MQQP-3.1.4.2-03",
    "MQQP-3.1.4.6-02",
    "MQQP-3.1.4.7-01",
)
"""Rules about calls that follow RemoteQMOpenQueue."""


@fault(
    "client-uses-context-handle-of-first-queue-for-second-queue",
    breaks=(*_RULES_OF_CALLS_AFTER_OPEN_QUEUE, "MQQP-3.2.4.1-08", "MQQP-3.1.4.7-01"),
    blind=True,
)
class ClientUsesContextHandleOfFirstQueueForSecondQueue(ClientQueueOpening):
    """When a queue of the server is open, the client uses the context handle of this queue for a second queue of the
    server, and does not call RemoteQMOpenQueue.
    """

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            if entry.queue.RemoteServer.host == queue.RemoteServer.host:
                return entry.RRSessionHandle
        return (yield from super().call_open_queue(queue))


@fault(
    "client-reopened-queue-uses-context-handle-of-first-opening",
    breaks=(*_RULES_OF_CALLS_AFTER_OPEN_QUEUE, "MQQP-3.2.4.1-08"),
    blind=True,
)
class ClientReopenedQueueUsesContextHandleOfFirstOpening(ClientQueueOpening):
    """When a client opens a queue a second time, it uses the context handle of the first opening, and does not call
    RemoteQMOpenQueue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.handles: dict[tuple[Endpoint, str], UUID | None] = {}

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        key = (queue.RemoteServer, queue.FormatName)
        if key not in self.handles:
            self.handles[key] = yield from super().call_open_queue(queue)
        return self.handles[key]


@fault(
    "client-omits-remote-qm-open-queue-for-queue-opened-to-peek",
    breaks=("MQQP-3.1.4.3-02", "MQQP-3.1.4.3-04", "MQQP-3.1.4.3-06", "MQQP-3.1.4.3-08", "MQQP-3.1.4.6-02"),
    blind=True,
)
class ClientOmitsRemoteQmOpenQueueForQueueOpenedToPeek(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue for a queue that it opens only to peek."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        return (yield from super().call_open_queue(queue)) if queue.may_receive else UUID(int=queue.number + 1)


@fault(
    "client-omits-remote-qm-open-queue-for-queue-opened-to-receive",
    breaks=("MQQP-3.1.4.3-03", "MQQP-3.1.4.3-05", "MQQP-3.1.4.3-09", "MQQP-3.1.4.2-03", "MQQP-3.1.4.7-01"),
    blind=True,
)
class ClientOmitsRemoteQmOpenQueueForQueueOpenedToReceive(ClientQueueOpening):
    """The client does not call RemoteQMOpenQueue for a queue that it opens to receive."""

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        return UUID(int=queue.number + 1) if queue.may_receive else (yield from super().call_open_queue(queue))


def _leave_queue_unopened(original: Any) -> Any:
    def return_unknown_handle(qm: QM, queue: RemoteQueue) -> RemoteCallSequence:
        yield from ()
        return UUID(int=queue.number + 1)

    return return_unknown_handle


def _open_queue_late(qm: QM, queue: RemoteQueue) -> RemoteCallSequence:
    """Call RemoteQMOpenQueue for a queue that the client already uses."""
    arguments = qm.client_queue_opening.build_open_queue_arguments(queue)
    assert queue.binding is not None
    results = yield from qm.server_bindings.call_method(queue.binding, "RemoteQMOpenQueue", **arguments)
    for entry in qm.remote_client.RemoteOpenQueueEntryCollection:
        if entry.queue is queue:
            entry.RRSessionHandle = results["phContext"]


def _open_queue_after_read(original: Any) -> Any:
    def read_and_open_queue(qm: QM, read: RemoteRead) -> RemoteCallSequence:
        results = yield from original(qm, read)
        yield from _open_queue_late(qm, read.queue)
        return results

    return read_and_open_queue


def _open_queue_after_call(original: Any) -> Any:
    def call_and_open_queue(qm: QM, *arguments: Any) -> RemoteCallSequence:
        yield from original(qm, *arguments)
        queue = next(
            one.queue if hasattr(one, "queue") else one for one in arguments if not isinstance(one, RpcBindingHandle)
        )
        yield from _open_queue_late(qm, queue)

    return call_and_open_queue


for _name, _call, _method, _rules, _change in (
    (
        "start-receive",
        "RemoteQMStartReceive",
        ClientMessageReading.start_receive,
        ("MQQP-3.1.4.3-02",),
        _open_queue_after_read,
    ),
    (
        "start-receive2",
        "RemoteQMStartReceive2 or RemoteQMStartReceiveByLookupId",
        ClientMessageReading.start_receive2,
        ("MQQP-3.1.4.3-08", "MQQP-3.1.4.3-09"),
        _open_queue_after_read,
    ),
    (
        "end-receive",
        "RemoteQMEndReceive",
        ClientMessageReading.call_end_receive,
        ("MQQP-3.1.4.3-03", "MQQP-3.1.4.2-03"),
        _open_queue_after_call,
    ),
    (
        "close-cursor",
        "RemoteQMCloseCursor",
        ClientReadCancelling.close_remote_cursor,
        ("MQQP-3.1.4.3-05",),
        _open_queue_after_call,
    ),
    (
        "cancel-receive",
        "RemoteQMCancelReceive",
        ClientReadCancelling.call_cancel_receive,
        ("MQQP-3.1.4.3-06", "MQQP-3.1.4.6-02"),
        _open_queue_after_call,
    ),
    (
        "close-queue",
        "RemoteQMCloseQueue",
        ClientQueueOpening.call_close_queue,
        ("MQQP-3.1.4.3-04",),
        _open_queue_after_call,
    ),
):
    add(
        f"client-open-queue-called-after-{_name}",
        _rules,
        f"The client calls RemoteQMOpenQueue for a queue only after {_call} for the queue.",
        combine_installers(
            replace_part(override_method(ClientQueueOpening.call_open_queue, _leave_queue_unopened)),
            replace_part(override_method(_method, _change)),
        ),
        blind=True,
    )
