"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10: the calls of the client."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteQueue, RemoteRead
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction, RemoteReadAck
from suites.mqqp.s3_1_4_01_start_receive.fault_steps import send_with_unknown_context_id

OPEN_QUEUE_CALL_RULE = "MQQP-3.1.4.1-03"
UL_ACTION_RULES = ("MQQP-3.1.4.1-08", "MQQP-3.1.4.10-07")
HCURSOR_RULES = ("MQQP-3.1.4.1-09", "MQQP-3.1.4.10-08")


# -- RemoteQMOpenQueue


class QueueOpeningOmitter(ClientQueueOpening):
    """Open some queues without RemoteQMOpenQueue; a subclass selects which."""

    def is_opening_omitted(self, queue: RemoteQueue) -> bool:
        """Return whether the call of RemoteQMOpenQueue is omitted."""
        raise NotImplementedError

    def call_open_queue(self, queue: RemoteQueue) -> RemoteCallSequence:
        if self.is_opening_omitted(queue):
            return None
        return (yield from super().call_open_queue(queue))


@fault("client-second-open-queue-without-remote-qm-open-queue", breaks=OPEN_QUEUE_CALL_RULE, blind=True)
class ClientSecondOpenQueueWithoutRemoteQmOpenQueue(QueueOpeningOmitter):
    """The client does not call RemoteQMOpenQueue for a queue while another remote queue is open."""

    def is_opening_omitted(self, queue: RemoteQueue) -> bool:
        return bool(self.qm.remote_client.RemoteOpenQueueEntryCollection)


@fault("client-queue-to-peek-without-remote-qm-open-queue", breaks=OPEN_QUEUE_CALL_RULE, blind=True)
class ClientQueueToPeekWithoutRemoteQmOpenQueue(QueueOpeningOmitter):
    """The client does not call RemoteQMOpenQueue for a queue that its application opens to peek."""

    def is_opening_omitted(self, queue: RemoteQueue) -> bool:
        return not queue.may_receive


@fault("client-reopened-queue-without-remote-qm-open-queue", breaks=OPEN_QUEUE_CALL_RULE, blind=True)
class ClientReopenedQueueWithoutRemoteQmOpenQueue(QueueOpeningOmitter):
    """The client does not call RemoteQMOpenQueue for a queue that it opened and closed earlier."""

    def is_opening_omitted(self, queue: RemoteQueue) -> bool:
        opened: set[str] = self.__dict__.setdefault("opened", set())
        known = queue.FormatName in opened
        opened.add(queue.FormatName)
        return known


# -- presentation contexts


def _is_read_by_cursor(reads: list[tuple[int, ...]]) -> bool:
    return reads[-1][1] != 0


def _is_second_read(reads: list[tuple[int, ...]]) -> bool:
    return len(reads) == 2


def _is_infinite_read(reads: list[tuple[int, ...]]) -> bool:
    return reads[-1][3] == INFINITE_MS


for method, number, rule in (
    ("start-receive", 0, "MQQP-3.1.4.1-04"),
    ("start-receive2", 9, "MQQP-3.1.4.10-01"),
):
    add(
        f"client-second-{method}-on-unknown-context",
        rule,
        "The p_cont_id of the second read of the client is an unknown number.",
        send_with_unknown_context_id(number, _is_second_read),
        blind=True,
    )
    add(
        f"client-{method}-by-cursor-on-unknown-context",
        rule,
        "The p_cont_id of a read of the client by a cursor is an unknown number.",
        send_with_unknown_context_id(number, _is_read_by_cursor),
        blind=True,
    )
    add(
        f"client-{method}-with-infinite-timeout-on-unknown-context",
        rule,
        "The p_cont_id of a read of the client with an infinite ulTimeout is an unknown number.",
        send_with_unknown_context_id(number, _is_infinite_read),
        blind=True,
    )


# -- ulAction and hCursor


class ReadDescriptionChanger(ClientMessageReading):
    """Change the REMOTEREADDESC of some reads; a subclass selects which."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read."""
        raise NotImplementedError

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return super().build_start_receive_description(read) | self.change(read)


@fault("client-receive-with-infinite-timeout-ul-action-1", breaks=UL_ACTION_RULES, blind=True)
class ClientReceiveWithInfiniteTimeoutUlAction1(ReadDescriptionChanger):
    """The client sets ulAction to 1 in a receive with an infinite ulTimeout."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        infinite = read.Action is ReadAction.MQ_ACTION_RECEIVE and read.TimeOut == INFINITE_MS
        return {"ulAction": 1} if infinite else {}


@fault("client-ul-action-0x80000002-in-second-peek-next", breaks=UL_ACTION_RULES, blind=True)
class ClientUlAction0x80000002InSecondPeekNext(ReadDescriptionChanger):
    """The client sets ulAction to 0x80000002 in its second PEEK_NEXT."""

    peek_next_count = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        self.peek_next_count += read.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        second = read.Action is ReadAction.MQ_ACTION_PEEK_NEXT and self.peek_next_count == 2
        return {"ulAction": 0x80000002} if second else {}


@fault("client-sends-lookup-ul-action-in-receive-by-cursor", breaks=UL_ACTION_RULES, blind=True)
class ClientSendsLookupUlActionInReceiveByCursor(ReadDescriptionChanger):
    """The client sets ulAction to LOOKUP_RECEIVE_CURRENT in a receive by a cursor."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        by_cursor = read.Action is ReadAction.MQ_ACTION_RECEIVE and read.CursorHandle
        return {"ulAction": int(ReadAction.MQ_LOOKUP_RECEIVE_CURRENT)} if by_cursor else {}


@fault("client-h-cursor-0-in-second-peek-next", breaks=HCURSOR_RULES, blind=True)
class ClientHCursor0InSecondPeekNext(ReadDescriptionChanger):
    """The client sets hCursor to 0 in its second PEEK_NEXT."""

    peek_next_count = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        self.peek_next_count += read.Action is ReadAction.MQ_ACTION_PEEK_NEXT
        second = read.Action is ReadAction.MQ_ACTION_PEEK_NEXT and self.peek_next_count == 2
        return {"hCursor": 0} if second else {}


@fault("client-h-cursor-of-peek-next-is-closed-cursor", breaks=HCURSOR_RULES, blind=True)
class ClientHCursorOfPeekNextIsClosedCursor(ClientReadCancelling):
    """After the client closed a cursor, it sets hCursor of PEEK_NEXT by another cursor to the closed cursor."""

    def create_remote_cursor(self, queue: RemoteQueue) -> RemoteCallSequence:
        known: list[int] = self.__dict__.setdefault("known", [])
        made = yield from super().create_remote_cursor(queue)
        known.append(made)
        return made

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        yield from super().close_remote_cursor(queue, cursor)
        remote = self.qm.remote_client
        for number, (owner, handle) in list(remote.queue_and_handle_by_cursor.items()):
            if owner is queue and handle != cursor:
                remote.queue_and_handle_by_cursor[number] = owner, cursor


@fault("client-h-cursor-of-peek-next-is-cursor-of-other-queue", breaks=HCURSOR_RULES, blind=True)
class ClientHCursorOfPeekNextIsCursorOfOtherQueue(ReadDescriptionChanger):
    """The client sets hCursor of a PEEK_NEXT to its first open cursor, although this is a cursor of another queue."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        others = [
            handle
            for queue, handle in self.qm.remote_client.queue_and_handle_by_cursor.values()
            if queue is not read.queue
        ]
        moves = read.Action is ReadAction.MQ_ACTION_PEEK_NEXT and others
        return {"hCursor": others[0]} if moves else {}


# -- hRemoteQueue, dwQueue and dwRequestID


class ReadDescription2Changer(ClientMessageReading):
    """Change the REMOTEREADDESC2 of some calls of RemoteQMStartReceive2; a subclass selects which."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read."""
        raise NotImplementedError

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive2_description(read)
        if read.LookupId is not None:
            return given
        return given | {"pRemoteReadDesc": given["pRemoteReadDesc"] | self.change(read)}


@fault("client-dw-queue-of-start-receive2-is-that-of-first-queue", breaks="MQQP-3.1.4.10-06", blind=True)
class ClientDwQueueOfStartReceive2IsThatOfFirstQueue(ReadDescription2Changer):
    """The client sets dwQueue in RemoteQMStartReceive2 to the value of the queue that it opened first."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0].queue
        return {"dwQueue": first.QueueDescriptor}


@fault("client-start-receive2-by-cursor-dw-request-id-0", breaks="MQQP-3.1.4.10-06", blind=True)
class ClientStartReceive2ByCursorDwRequestId0(ReadDescription2Changer):
    """The client sets dwRequestID to 0 in RemoteQMStartReceive2 with a cursor."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwRequestID": 0} if read.CursorHandle else {}


@fault("client-h-remote-queue-of-start-receive2-peek-is-first-queue", breaks="MQQP-3.1.4.10-06", blind=True)
class ClientHRemoteQueueOfStartReceive2PeekIsFirstQueue(ReadDescription2Changer):
    """The client sets hRemoteQueue of a peek by RemoteQMStartReceive2 to the handle of the queue that it opened
    first.
    """

    def change(self, read: RemoteRead) -> dict[str, Any]:
        first = self.qm.remote_client.RemoteOpenQueueEntryCollection[0].queue
        return {} if read.receives else {"hRemoteQueue": first.QueueHandle}


# -- RemoteQMEndReceive after a peek


@fault("client-start-receive-peek-next-followed-by-end-receive", breaks="MQQP-3.1.4.1-D01", blind=True)
class ClientStartReceivePeekNextFollowedByEndReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive after a PEEK_NEXT."""

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        found = yield from super().read_remote_message(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT and read.entry is not None:
            yield from self.call_end_receive(read.entry, RemoteReadAck.RR_NACK)
        return found


@fault("client-start-receive-second-peek-followed-by-end-receive", breaks="MQQP-3.1.4.1-D01", blind=True)
class ClientStartReceiveSecondPeekFollowedByEndReceive(ClientMessageReading):
    """The client calls RemoteQMEndReceive after its second peek, with the handle of its last receive."""

    peek_count = 0
    entry_of_last_receive: PendingRemoteReadEntry | None = None

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        found = yield from super().read_remote_message(read)
        if read.receives:
            self.entry_of_last_receive = read.entry
        else:
            self.peek_count += 1
        if not read.receives and self.peek_count == 2 and (self.entry_of_last_receive or read.entry) is not None:
            yield from self.call_end_receive(self.entry_of_last_receive or read.entry, RemoteReadAck.RR_NACK)  # type: ignore[arg-type]
        return found
