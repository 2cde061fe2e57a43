"""Faults that break rules of MS-MQQP 3.2.4.7 Canceling a Pending Peek or Receive."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_remote_call_sequence, omit_step
from harness.faults.registry import Install, add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction


@fault("client-cancels-last-begun-read-instead-of-named-read", breaks="MQQP-3.2.4.7-02")
class ClientCancelsLastBegunReadInsteadOfNamedRead(ClientReadCancelling):
    """The client cancels the read that it began last instead of the read that its application names."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        return self.qm.remote_client.PendingRemoteReadEntryCollection[-1]


@fault("client-cancels-first-pending-read-instead-of-named-read", breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-06"))
class ClientCancelsFirstPendingReadInsteadOfNamedRead(ClientReadCancelling):
    """The client cancels the first pending read of the queue, even if its application names another read."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        return next(one for one in entries if one.queue is queue)


@fault("client-cancel-ends-all-pending-reads-of-queue", breaks="MQQP-3.2.4.7-02")
class ClientCancelEndsAllPendingReadsOfQueue(ClientReadCancelling):
    """When the client cancels a read, it also cancels the other pending reads of the queue."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> RemoteCallSequence:
        yield from super().cancel_pending_read(queue, request_id)
        for one in list(self.qm.remote_client.PendingRemoteReadEntryCollection):
            if one.queue is queue and one.is_sent_to_server:
                yield from super().cancel_pending_read(queue, one.RequestId)


@fault("client-cancel-of-any-read-cancels-newest-read-of-queue", breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-06"))
class ClientCancelOfAnyReadCancelsNewestReadOfQueue(ClientReadCancelling):
    """The client cancels the newest pending read of the queue when its application cancels any read of the queue."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return [one for one in pending if one.queue is queue][-1]


@fault("client-cancel-of-any-read-cancels-oldest-read-of-client", breaks="MQQP-3.2.4.7-02")
class ClientCancelOfAnyReadCancelsOldestReadOfClient(ClientReadCancelling):
    """The client cancels the oldest pending read of the client, if reads of several queues are pending."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        several = len({one.OpenQueueDescriptorHandle for one in pending}) > 1
        return pending[0] if several else super().find_pending_read(queue, request_id)


@fault(
    "client-cancels-read-of-first-opened-queue-instead-of-named-read",
    breaks=("MQQP-3.2.4.7-02", "MQQP-3.2.4.7-04"),
    blind=True,
)
class ClientCancelsReadOfFirstOpenedQueueInsteadOfNamedRead(ClientReadCancelling):
    """When the client cancels a read of a queue, it cancels the pending read of the queue that it opened first."""

    def find_pending_read(self, queue: RemoteQueue, request_id: int) -> PendingRemoteReadEntry:
        found = super().find_pending_read(queue, request_id)
        first = next(iter(self.qm.remote_client.queues.values()))
        for one in self.qm.remote_client.PendingRemoteReadEntryCollection:
            if one.queue is first and one.is_sent_to_server:
                return one
        return found


add(
    "client-cancel-receive-not-called",
    "MQQP-3.2.4.7-03",
    "The client does not call RemoteQMCancelReceive.",
    omit_remote_call_sequence(ClientReadCancelling.call_cancel_receive),
)


@fault("client-cancel-not-sent-while-other-read-is-pending", breaks="MQQP-3.2.4.7-03")
class ClientCancelNotSentWhileOtherReadIsPending(ClientReadCancelling):
    """The client does not call RemoteQMCancelReceive while another read of the queue is pending."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        if sum(one.queue is entry.queue for one in entries) == 1:
            yield from super().call_cancel_receive(entry)


@fault("client-cancel-receive-called-twice", breaks="MQQP-3.2.4.7-03")
class ClientCancelReceiveCalledTwice(ClientReadCancelling):
    """The client calls RemoteQMCancelReceive twice for one cancellation."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        yield from super().call_cancel_receive(entry)
        yield from super().call_cancel_receive(entry)


class _CancelCallOmitter(ClientReadCancelling):
    """Do not call RemoteQMCancelReceive for some reads; a subclass selects which."""

    def is_cancel_call_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        raise NotImplementedError

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        if not self.is_cancel_call_omitted(entry):
            yield from super().call_cancel_receive(entry)


@fault("client-omits-second-cancel-receive-of-queue", breaks="MQQP-3.2.4.7-03")
class ClientOmitsSecondCancelReceiveOfQueue(_CancelCallOmitter):
    """The client does not call RemoteQMCancelReceive for the second read of a queue that it cancels."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def is_cancel_call_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        again = entry.queue.number in self.seen
        self.seen.add(entry.queue.number)
        return again


@fault("client-omits-cancel-receive-while-other-reads-wait", breaks="MQQP-3.2.4.7-03")
class ClientOmitsCancelReceiveWhileOtherReadsWait(_CancelCallOmitter):
    """The client does not call RemoteQMCancelReceive while more than one read of the queue waits."""

    def is_cancel_call_omitted(self, entry: PendingRemoteReadEntry) -> bool:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        return sum(one.queue is entry.queue for one in pending) > 1


@fault("client-omits-cancel-receive-for-start-receive", breaks="MQQP-3.2.4.7-03")
class ClientOmitsCancelReceiveForStartReceive(ClientMessageReading):
    """The client does not call RemoteQMCancelReceive for a RemoteQMStartReceive."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        assert read.entry is not None
        read.entry.is_sent_to_server = False
        return (yield from super().start_receive(read))


@fault("client-cancel-not-sent-while-cursor-is-open", breaks="MQQP-3.2.4.7-03")
class ClientCancelNotSentWhileCursorIsOpen(ClientReadCancelling):
    """The client does not call RemoteQMCancelReceive while a cursor of the queue is open."""

    def call_cancel_receive(self, entry: PendingRemoteReadEntry) -> RemoteCallSequence:
        if not any(queue is entry.queue for queue, _ in self.qm.remote_client.queue_and_handle_by_cursor.values()):
            yield from super().call_cancel_receive(entry)


class _LocalReadCanceller(ClientMessageReading):
    """The client does not call RemoteQMCancelReceive when its application cancels certain reads; a subclass selects
    which.
    """

    def is_cancelled_without_call(self, read: RemoteRead) -> bool:
        """Return whether the client cancels a read without a call of RemoteQMCancelReceive."""
        return False

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.entry is not None and self.is_cancelled_without_call(read):
            read.entry.is_sent_to_server = False
        return (yield from super().start_receive2(read))

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        if read.entry is not None and self.is_cancelled_without_call(read):
            read.entry.is_sent_to_server = False
        return (yield from super().start_receive(read))


@fault("client-cancel-of-peek-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfPeekNotSent(_LocalReadCanceller):
    """The client does not call RemoteQMCancelReceive when its application cancels a peek without a cursor."""

    def is_cancelled_without_call(self, read: RemoteRead) -> bool:
        return read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT and not read.CursorHandle


@fault("client-cancel-of-receive-by-cursor-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfReceiveByCursorNotSent(_LocalReadCanceller):
    """The client does not call RemoteQMCancelReceive when its application cancels a receive by a cursor."""

    def is_cancelled_without_call(self, read: RemoteRead) -> bool:
        return read.receives and bool(read.CursorHandle)


@fault("client-cancel-of-endless-read-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfEndlessReadNotSent(_LocalReadCanceller):
    """The client does not call RemoteQMCancelReceive when its application cancels a read without a time limit."""

    def is_cancelled_without_call(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-cancel-of-read-by-start-receive-not-sent", breaks="MQQP-3.2.4.7-03", blind=True)
class ClientCancelOfReadByStartReceiveNotSent(ClientMessageReading):
    """The client does not call RemoteQMCancelReceive for a read that it began with RemoteQMStartReceive."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        if read.entry is not None:
            read.entry.is_sent_to_server = False
        return (yield from super().start_receive(read))


def _increment_cancel_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMCancelReceive."""

    class CancelParameterIncrementer(ClientReadCancelling):
        def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
            values = super().build_cancel_receive_arguments(entry)
            return values | {parameter: values[parameter] + 1}

    return replace_part(CancelParameterIncrementer)


for _name, _breaks, _parameter in (
    ("client-cancel-receive-h-queue-one-too-high", ("MQQP-3.2.4.7-04", "MQQP-3.2.4.9-03"), "hQueue"),
    ("client-cancel-receive-p-queue-one-too-high", ("MQQP-3.2.4.7-05",), "pQueue"),
    ("client-cancel-receive-id-one-too-high", ("MQQP-3.2.4.7-06", "MQQP-3.2.4.9-04"), "dwRequestID"),
):
    add(
        _name,
        _breaks,
        f"The client calls RemoteQMCancelReceive with a {_parameter} that is greater by 1 than the right value.",
        _increment_cancel_parameter(_parameter),
    )


@fault("client-cancel-receive-sends-h-queue-of-last-opened-queue", breaks="MQQP-3.2.4.7-04")
class ClientCancelReceiveSendsHQueueOfLastOpenedQueue(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCancelReceive to the handle of the queue that it opened last."""

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return {**super().build_cancel_receive_arguments(entry), "hQueue": last.QueueHandle}


@fault("client-h-queue-of-cancel-receive-cut-to-16-bits", breaks="MQQP-3.2.4.7-04")
class ClientHQueueOfCancelReceiveCutTo16Bits(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCancelReceive to the low 16 bits of phQueue."""

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        given = super().build_cancel_receive_arguments(entry)
        return {**given, "hQueue": given["hQueue"] & 0xFFFF}


class _CancelParameterChanger(ClientReadCancelling):
    """Change the parameters of RemoteQMCancelReceive."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        raise NotImplementedError

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return super().build_cancel_receive_arguments(entry) | self.change(entry)


@fault("client-h-queue-of-cancel-receive-is-newest-queue", breaks="MQQP-3.2.4.7-04")
class ClientHQueueOfCancelReceiveIsNewestQueue(_CancelParameterChanger):
    """The client sets hQueue of RemoteQMCancelReceive to the phQueue of the queue that it opened last."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"hQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-h-queue-is-dwp-queue-in-every-second-cancel-receive", breaks="MQQP-3.2.4.7-04")
class ClientHQueueIsDwpQueueInEverySecondCancelReceive(_CancelParameterChanger):
    """The client sets hQueue of every second RemoteQMCancelReceive to dwpQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"hQueue": entry.queue.QueueDescriptor}


@fault("client-p-queue-of-cancel-receive-is-last-opened-queue", breaks="MQQP-3.2.4.7-05", blind=True)
class ClientPQueueOfCancelReceiveIsLastOpenedQueue(ClientReadCancelling):
    """When the client cancels a read, it passes the dwpQueue of the queue that it opened last as pQueue."""

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        last = [entry.queue, *self.qm.remote_client.queues.values()][-1]
        return super().build_cancel_receive_arguments(entry) | {"pQueue": last.QueueDescriptor}


@fault("client-cancel-receive-sends-low-31-bits-of-p-queue", breaks="MQQP-3.2.4.7-05")
class ClientCancelReceiveSendsLow31BitsOfPQueue(ClientReadCancelling):
    """The client sets pQueue of RemoteQMCancelReceive to the low 31 bits of dwpQueue."""

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        given = super().build_cancel_receive_arguments(entry)
        return {**given, "pQueue": given["pQueue"] & 0x7FFFFFFF}


@fault("client-p-queue-is-ph-queue-in-every-second-cancel-receive", breaks="MQQP-3.2.4.7-05")
class ClientPQueueIsPhQueueInEverySecondCancelReceive(_CancelParameterChanger):
    """The client sets pQueue of every second RemoteQMCancelReceive to phQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"pQueue": entry.queue.QueueHandle}


@fault("client-p-queue-of-cancel-receive-is-first-opened-queue", breaks="MQQP-3.2.4.7-05")
class ClientPQueueOfCancelReceiveIsFirstOpenedQueue(_CancelParameterChanger):
    """The client sets pQueue of RemoteQMCancelReceive to the dwpQueue of the queue that it opened first."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"pQueue": next(iter(self.qm.remote_client.queues.values())).QueueDescriptor}


@fault("client-cancel-receive-sends-dw-request-id-of-last-read", breaks="MQQP-3.2.4.7-06")
class ClientCancelReceiveSendsDwRequestIdOfLastRead(ClientReadCancelling):
    """The client sets dwRequestID of RemoteQMCancelReceive to the RequestId that it assigned last."""

    def build_cancel_receive_arguments(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {**super().build_cancel_receive_arguments(entry), "dwRequestID": self.qm.remote_client.last_request_id}


@fault("client-cancel-receive-sends-dw-request-id-of-newest-read", breaks="MQQP-3.2.4.7-06")
class ClientCancelReceiveSendsDwRequestIdOfNewestRead(_CancelParameterChanger):
    """The client sets dwRequestID of RemoteQMCancelReceive to the RequestId of its newest pending read."""

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"dwRequestID": self.qm.remote_client.PendingRemoteReadEntryCollection[-1].RequestId}


@fault("client-dw-request-id-of-cancel-is-index-of-pending-read", breaks="MQQP-3.2.4.7-06")
class ClientDwRequestIdOfCancelIsIndexOfPendingRead(_CancelParameterChanger):
    """The client sets dwRequestID of RemoteQMCancelReceive to the position of the read in the list of all pending
    reads.
    """

    def change(self, entry: PendingRemoteReadEntry) -> dict[str, Any]:
        return {"dwRequestID": 1 + self.qm.remote_client.PendingRemoteReadEntryCollection.index(entry)}


add(
    "client-cancelled-read-stays-pending",
    "MQQP-3.2.4.7-07",
    "The client keeps the PendingRemoteReadEntry of a cancelled read.",
    omit_step(ClientReadCancelling.remove_cancelled_read),
)


@fault("client-keeps-entry-of-cancelled-read-while-other-read-waits", breaks="MQQP-3.2.4.7-07")
class ClientKeepsEntryOfCancelledReadWhileOtherReadWaits(ClientReadCancelling):
    """The client keeps the entry of a cancelled read while another read of the queue is pending."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        entries = self.qm.remote_client.PendingRemoteReadEntryCollection
        if sum(one.queue is entry.queue for one in entries) == 1:
            super().remove_cancelled_read(entry)


@fault("client-keeps-pending-read-entry-of-cancelled-read-until-answer", breaks="MQQP-3.2.4.7-07")
class ClientKeepsPendingReadEntryOfCancelledReadUntilAnswer(ClientReadCancelling):
    """The client keeps the PendingRemoteReadEntry of a cancelled read while the server has not answered the read."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pass


@fault("client-cancel-receive-removes-oldest-pending-read-entry", breaks="MQQP-3.2.4.7-07")
class ClientCancelReceiveRemovesOldestPendingReadEntry(ClientReadCancelling):
    """The client removes the oldest PendingRemoteReadEntry when it cancels a read."""

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if entry in pending:
            del pending[0]


@fault("client-keeps-pending-read-entry-of-every-second-cancelled-read", breaks="MQQP-3.2.4.7-07")
class ClientKeepsPendingReadEntryOfEverySecondCancelledRead(ClientReadCancelling):
    """The client keeps the PendingRemoteReadEntry of every second cancelled read."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        self.count += 1
        if self.count % 2:
            super().remove_cancelled_read(entry)


@fault("client-keeps-pending-read-entry-after-refused-cancel-receive", breaks="MQQP-3.2.4.7-07", blind=True)
class ClientKeepsPendingReadEntryAfterRefusedCancelReceive(ClientReadCancelling):
    """The client keeps the PendingRemoteReadEntry of a read if RemoteQMCancelReceive returned a failure."""

    def cancel_pending_read(self, queue: RemoteQueue, request_id: int) -> RemoteCallSequence:
        entry = self.find_pending_read(queue, request_id)
        try:
            yield from super().cancel_pending_read(queue, request_id)
        except RemoteError:
            self.qm.remote_client.PendingRemoteReadEntryCollection.append(entry)
            raise


@fault("client-cancel-removes-oldest-pending-read-entry-of-queue", breaks="MQQP-3.2.4.7-07", blind=True)
class ClientCancelRemovesOldestPendingReadEntryOfQueue(ClientReadCancelling):
    """After a cancellation, the client removes the oldest PendingRemoteReadEntry of the queue instead of the entry of
    the cancelled read.
    """

    def remove_cancelled_read(self, entry: PendingRemoteReadEntry) -> None:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        super().remove_cancelled_read(next((one for one in pending if one.queue is entry.queue), entry))
