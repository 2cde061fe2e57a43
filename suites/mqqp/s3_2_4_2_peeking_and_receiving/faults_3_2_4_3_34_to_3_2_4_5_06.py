"""Faults that break the rules MQQP-3.2.4.3-34 to MQQP-3.2.4.5-06."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import omit_remote_call_sequence, omit_step
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, RemoteReadAck
from suites.mqqp.s3_2_4_2_peeking_and_receiving.fault_steps import PreviousAnswerRecorder

add(
    "client-receive-handle-not-kept",
    ("MQQP-3.2.4.3-34", "MQQP-3.2.4.6-33"),
    "The client does not keep the context handle of a receive.",
    omit_step(ClientMessageReading.store_remote_read_handle),
)


END_RECEIVE_HANDLE_RULES = ("MQQP-3.2.4.3-37", "MQQP-3.2.4.6-36")


READ_HANDLE_RULES = ("MQQP-3.2.4.3-34", "MQQP-3.2.4.6-33")


@fault("client-sends-first-context-handle-in-every-end-receive", breaks=END_RECEIVE_HANDLE_RULES + READ_HANDLE_RULES)
class ClientSendsFirstContextHandleInEveryEndReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive for every receive with the first context handle that the server returned."""

    first_handle: UUID | None = None

    def store_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        self.first_handle = self.first_handle or handle
        super().store_remote_read_handle(entry, self.first_handle)


RECEIVE_HANDLE_RULES = ("MQQP-3.2.4.3-34", "MQQP-3.2.4.3-37", "MQQP-3.2.4.6-33", "MQQP-3.2.4.6-36")


@fault("client-end-receive-handle-of-first-receive", breaks=RECEIVE_HANDLE_RULES)
class ClientEndReceiveHandleOfFirstReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive with the handle of its first receive after every receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: UUID | None = None

    def store_remote_read_handle(self, entry: PendingRemoteReadEntry, handle: UUID | None) -> None:
        self.first = self.first or handle
        super().store_remote_read_handle(entry, self.first)


@fault(
    "client-ends-receive-with-handle-of-receive-from-other-queue",
    breaks=("MQQP-3.2.4.3-34", "MQQP-3.2.4.3-37", "MQQP-3.2.4.6-33", "MQQP-3.2.4.6-36"),
    blind=True,
)
class ClientEndsReceiveWithHandleOfReceiveFromOtherQueue(ClientMessageReading):
    """When the client has received from another queue, it ends a receive with the handle of the last receive from that
    queue.
    """

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        handles: dict[RemoteQueue, UUID | None] = self.__dict__.setdefault("handles", {})
        handles[entry.queue] = entry.RemoteReadHandle
        others = [handle for queue, handle in handles.items() if queue is not entry.queue]
        entry.RemoteReadHandle = others[-1] if others else entry.RemoteReadHandle
        yield from super().call_end_receive(entry, ack)


add(
    "client-end-receive-not-called",
    ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35", "MQQP-2.2.1.2-01", "MQQP-3.1.4.1-01", "MQQP-3.1.4.2-01"),
    "The client does not call RemoteQMEndReceive.",
    omit_remote_call_sequence(ClientMessageReading.call_end_receive),
)


@fault("client-omits-end-receive-for-start-receive-without-cursor", breaks="MQQP-3.2.4.3-36", blind=True)
class ClientOmitsEndReceiveForStartReceiveWithoutCursor(ClientMessageReading):
    """The client does not call RemoteQMEndReceive for a message that it received by RemoteQMStartReceive without a
    cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.received: set[PendingRemoteReadEntry] = set()

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        results = yield from super().start_receive(read)
        if read.entry is not None and not read.CursorHandle:
            self.received.add(read.entry)
        return results

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if entry not in self.received:
            yield from super().call_end_receive(entry, ack)


END_RECEIVE_RULES = ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35")


@fault("client-end-receive-called-twice-while-other-read-is-pending", breaks=END_RECEIVE_RULES)
class ClientEndReceiveCalledTwiceWhileOtherReadIsPending(ClientMessageReading):
    """While another read is pending, the client calls RemoteQMEndReceive twice for one receive."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        yield from super().call_end_receive(entry, ack)
        if len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1:
            yield from super().call_end_receive(entry, ack)


@fault("client-receive-of-empty-message-not-ended", breaks=END_RECEIVE_RULES)
class ClientReceiveOfEmptyMessageNotEnded(PreviousAnswerRecorder):
    """The client does not call RemoteQMEndReceive for a message without a body."""

    has_empty_body = False

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        found = super().reconstruct_message(results, server)
        self.has_empty_body = not found.message.Body
        return found

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if not self.has_empty_body:
            yield from super().call_end_receive(entry, ack)


@fault("client-second-receive-of-queue-not-ended", breaks=END_RECEIVE_RULES)
class ClientSecondReceiveOfQueueNotEnded(ClientMessageReading):
    """The client calls RemoteQMEndReceive only for the first receive of a queue."""

    queues_with_ended_receive: set[int]

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        known = self.__dict__.setdefault("queues_with_ended_receive", set())
        if entry.queue.number not in known:
            known.add(entry.queue.number)
            yield from super().call_end_receive(entry, ack)


END_RECEIVE_CALL_RULES = ("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35")


@fault("client-end-receive-omitted-for-every-second-receive", breaks=END_RECEIVE_CALL_RULES)
class ClientEndReceiveOmittedForEverySecondReceive(ClientMessageReading):
    """The client does not call RemoteQMEndReceive after every second receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        self.count += 1
        if self.count % 2:
            yield from super().call_end_receive(entry, ack)


@fault("client-end-receive-called-twice-for-second-receive", breaks=END_RECEIVE_CALL_RULES)
class ClientEndReceiveCalledTwiceForSecondReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive twice after every second receive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        self.count += 1
        yield from super().call_end_receive(entry, ack)
        if not self.count % 2:
            yield from super().call_end_receive(entry, ack)


@fault(
    "client-end-receive-repeated-after-failure",
    breaks=("MQQP-3.2.4.3-36", "MQQP-3.2.4.6-35", "MQQP-3.1.4.2-04"),
    blind=True,
)
class ClientEndReceiveRepeatedAfterFailure(ClientMessageReading):
    """When RemoteQMEndReceive fails, the client calls the method again."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        try:
            yield from super().call_end_receive(entry, ack)
        except RemoteError:
            yield from super().call_end_receive(entry, ack)


@fault("client-receive-not-ended-while-peek-is-pending", breaks=END_RECEIVE_RULES, blind=True)
class ClientReceiveNotEndedWhilePeekIsPending(ClientMessageReading):
    """The client does not call RemoteQMEndReceive while a peek of the queue waits."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        peeks: set[PendingRemoteReadEntry] = self.__dict__.setdefault("peeks", set())
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if not any(one in peeks and one.queue is entry.queue for one in pending):
            yield from super().call_end_receive(entry, ack)

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if not read.receives:
            self.__dict__.setdefault("peeks", set()).add(entry)
        return entry


@fault("client-does-not-end-receive-without-time-limit", breaks=END_RECEIVE_RULES, blind=True)
class ClientDoesNotEndReceiveWithoutTimeLimit(ClientMessageReading):
    """The client does not call RemoteQMEndReceive for a receive without a time limit."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if read.TimeOut == INFINITE_MS:
            self.__dict__.setdefault("endless", set()).add(entry)
        return entry

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if entry not in self.__dict__.get("endless", ()):
            yield from super().call_end_receive(entry, ack)


@fault("client-receive-of-second-queue-not-ended", breaks=END_RECEIVE_RULES, blind=True)
class ClientReceiveOfSecondQueueNotEnded(ClientMessageReading):
    """The client calls RemoteQMEndReceive only for receives from the queue that it opened first."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        if entry.queue is next(iter(self.qm.remote_client.queues.values())):
            yield from super().call_end_receive(entry, ack)


@fault("client-end-receive-sends-wrong-context-handle", breaks=("MQQP-3.2.4.3-37", "MQQP-3.2.4.6-36"))
class ClientEndReceiveSendsWrongContextHandle(ClientMessageReading):
    """The client calls RemoteQMEndReceive with a wrong context handle."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        entry.RemoteReadHandle = UUID(int=0xBAD)
        yield from super().call_end_receive(entry, ack)


@fault("client-ends-receive-with-rr-nack-instead-of-rr-ack", breaks=("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37"))
class ClientEndsReceiveWithRrNackInsteadOfRrAck(ClientMessageReading):
    """The client calls RemoteQMEndReceive with RR_NACK after a successful receive."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        yield from super().call_end_receive(
            entry, RemoteReadAck.RR_NACK if ack is RemoteReadAck.RR_ACK else RemoteReadAck.RR_ACK
        )


END_RECEIVE_ACK_RULES = ("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37")


@fault("client-ends-later-receives-with-rr-nack", breaks=END_RECEIVE_ACK_RULES)
class ClientEndsLaterReceivesWithRrNack(ClientMessageReading):
    """The client ends only its first receive with RR_ACK, and later receives with RR_NACK."""

    has_ended_receive = False

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        wanted, self.has_ended_receive = (RemoteReadAck.RR_NACK if self.has_ended_receive else ack), True
        yield from super().call_end_receive(entry, wanted)


POSITIVE_END_RECEIVE_ACK_RULES = ("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37")


@fault("client-dw-ack-is-rr-nack-in-every-second-end-receive", breaks=POSITIVE_END_RECEIVE_ACK_RULES)
class ClientDwAckIsRrNackInEverySecondEndReceive(ClientMessageReading):
    """The client sets dwAck to RR_NACK in every second RemoteQMEndReceive."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        self.count += 1
        yield from super().call_end_receive(entry, ack if self.count % 2 else RemoteReadAck.RR_NACK)


@fault("client-dw-ack-is-rr-nack-after-receive-without-time-limit", breaks=POSITIVE_END_RECEIVE_ACK_RULES)
class ClientDwAckIsRrNackAfterReceiveWithoutTimeLimit(ClientMessageReading):
    """The client sets dwAck to RR_NACK after a receive without a time limit."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        self.infinite = read.TimeOut == INFINITE_MS
        return (yield from super().start_receive2(read))

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.infinite = False

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        yield from super().call_end_receive(entry, RemoteReadAck.RR_NACK if self.infinite else ack)


@fault(
    "client-ends-receive-with-rr-nack-after-failed-receive",
    breaks=("MQQP-3.2.4.3-38", "MQQP-3.2.4.6-37"),
    blind=True,
)
class ClientEndsReceiveWithRrNackAfterFailedReceive(ClientMessageReading):
    """The client ends a receive with RR_NACK if the previous receive of the queue failed."""

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError:
            self.__dict__.setdefault("failed", set()).add(read.queue)
            raise

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        failed = self.__dict__.get("failed", set())
        wrong = entry.queue in failed
        failed.discard(entry.queue)
        yield from super().call_end_receive(entry, RemoteReadAck.RR_NACK if wrong else ack)


@fault("client-pending-read-entry-kept-after-failed-end-receive", breaks=("MQQP-3.2.4.3-39", "MQQP-3.2.4.6-38"))
class ClientPendingReadEntryKeptAfterFailedEndReceive(ClientMessageReading):
    """The client keeps the PendingRemoteReadEntry of a receive whose RemoteQMEndReceive returned a failure."""

    def call_end_receive(self, entry: PendingRemoteReadEntry, ack: RemoteReadAck) -> RemoteCallSequence:
        try:
            yield from super().call_end_receive(entry, ack)
        except RemoteError:
            self.qm.remote_client.PendingRemoteReadEntryCollection.append(entry)
            raise


@fault(
    "client-pending-read-entry-of-read-by-cursor-removed-by-other-cursor",
    breaks=("MQQP-3.2.4.5-06", "MQQP-3.2.4.6-06"),
    blind=True,
)
class ClientPendingReadEntryOfReadByCursorRemovedByOtherCursor(ClientMessageReading):
    """The client removes the entry of a pending read by a cursor when a read by another cursor of the queue begins."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        known: dict[int, PendingRemoteReadEntry] = self.__dict__.setdefault("known", {})
        if read.CursorHandle:
            for cursor, one in known.items():
                if cursor != read.CursorHandle:
                    self.remove_pending_read(one)
            known[read.CursorHandle] = entry
        return entry
