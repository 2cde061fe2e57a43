"""Faults that break rules of MS-MQQP 3.2.4.8 Closing a Cursor."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_remote_call_sequence
from harness.faults.registry import Install, add
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.surface.clock import Now
from reference_qm.surface.remote_commands import RemoteCloseCursor

add(
    "client-close-cursor-not-called",
    ("MQQP-3.2.4.8-02", "MQQP-3.1.4.5-01"),
    "The client does not call RemoteQMCloseCursor.",
    omit_remote_call_sequence(ClientReadCancelling.close_remote_cursor),
)


@fault("client-uses-closed-cursor-in-later-commands", breaks=("MQQP-3.2.4.8-02", "MQQP-3.1.4.5-01"))
class ClientUsesClosedCursorInLaterCommands(ClientCommands):
    """The client continues to use a closed cursor in later commands."""

    def remote_close_cursor(self, request: RemoteCloseCursor, token: int, now: Now) -> None:
        cursor = self.qm.remote_client.queue_and_handle_by_cursor.get(request.cursor)
        super().remote_close_cursor(request, token, now)
        if cursor is not None:
            self.qm.remote_client.queue_and_handle_by_cursor[request.cursor] = cursor


@fault("client-close-cursor-not-called-while-other-cursor-is-open", breaks="MQQP-3.2.4.8-02")
class ClientCloseCursorNotCalledWhileOtherCursorIsOpen(ClientReadCancelling):
    """The client does not call RemoteQMCloseCursor while another cursor of the queue is open."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        if all(other is not queue for other, _ in self.qm.remote_client.queue_and_handle_by_cursor.values()):
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-closes-other-cursors-of-queue", breaks="MQQP-3.2.4.8-02")
class ClientCloseCursorClosesOtherCursorsOfQueue(ClientReadCancelling):
    """When the client closes a cursor, it also closes the other cursors of the queue."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        yield from super().close_remote_cursor(queue, cursor)
        for other, handle in list(self.qm.remote_client.queue_and_handle_by_cursor.values()):
            if other is queue:
                yield from super().close_remote_cursor(queue, handle)


@fault("client-omits-close-cursor-for-second-cursor-of-queue", breaks="MQQP-3.2.4.8-02")
class ClientOmitsCloseCursorForSecondCursorOfQueue(ClientReadCancelling):
    """The client does not call RemoteQMCloseCursor for the second cursor of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: set[int] = set()

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        if queue.number not in self.seen:
            self.seen.add(queue.number)
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-omits-close-cursor-while-read-is-pending", breaks="MQQP-3.2.4.8-02")
class ClientOmitsCloseCursorWhileReadIsPending(ClientReadCancelling):
    """The client does not call RemoteQMCloseCursor while a read of the queue is pending."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        if all(one.queue is not queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-not-called-while-read-is-pending", breaks="MQQP-3.2.4.8-02", blind=True)
class ClientCloseCursorNotCalledWhileReadIsPending(ClientReadCancelling):
    """The client does not call RemoteQMCloseCursor while a read of the queue waits."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        if not any(one.queue is queue for one in self.qm.remote_client.PendingRemoteReadEntryCollection):
            yield from super().close_remote_cursor(queue, cursor)


@fault("client-close-cursor-not-called-for-second-cursor", breaks="MQQP-3.2.4.8-02", blind=True)
class ClientCloseCursorNotCalledForSecondCursor(ClientReadCancelling):
    """The client calls RemoteQMCloseCursor only when it closes a cursor of a queue for the first time."""

    def close_remote_cursor(self, queue: RemoteQueue, cursor: int) -> RemoteCallSequence:
        closed: set[RemoteQueue] = self.__dict__.setdefault("closed", set())
        if queue not in closed:
            closed.add(queue)
            yield from super().close_remote_cursor(queue, cursor)


def _increment_close_cursor_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMCloseCursor."""

    class CloseCursorParameterIncrementer(ClientReadCancelling):
        def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
            values = super().build_close_cursor_arguments(queue, cursor)
            return values | {parameter: values[parameter] + 1}

    return replace_part(CloseCursorParameterIncrementer)


for _name, _rule, _parameter in (
    ("client-close-cursor-h-queue-one-too-high", "MQQP-3.2.4.8-03", "hQueue"),
    ("client-close-cursor-h-cursor-one-too-high", "MQQP-3.2.4.8-04", "hCursor"),
):
    add(
        _name,
        _rule,
        f"The client calls RemoteQMCloseCursor with a {_parameter} that is greater by 1 than the right value.",
        _increment_close_cursor_parameter(_parameter),
    )


@fault("client-h-queue-of-close-cursor-is-last-opened-queue", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientHQueueOfCloseCursorIsLastOpenedQueue(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the handle of the queue that it opened last."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return super().build_close_cursor_arguments(last, cursor)


@fault("client-close-cursor-sends-low-16-bits-of-h-queue", breaks="MQQP-3.2.4.8-03")
class ClientCloseCursorSendsLow16BitsOfHQueue(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the low 16 bits of phQueue."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {**super().build_close_cursor_arguments(queue, cursor), "hQueue": queue.QueueHandle & 0xFFFF}


class _CloseCursorParameterChanger(ClientReadCancelling):
    """Change the parameters of RemoteQMCloseCursor."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        raise NotImplementedError

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return super().build_close_cursor_arguments(queue, cursor) | self.change(queue, cursor)


@fault("client-h-queue-of-close-cursor-is-newest-queue", breaks="MQQP-3.2.4.8-03")
class ClientHQueueOfCloseCursorIsNewestQueue(_CloseCursorParameterChanger):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened last."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {"hQueue": list(self.qm.remote_client.queues.values())[-1].QueueHandle}


@fault("client-h-queue-is-dwp-queue-in-every-second-close-cursor", breaks="MQQP-3.2.4.8-03")
class ClientHQueueIsDwpQueueInEverySecondCloseCursor(_CloseCursorParameterChanger):
    """The client sets hQueue of every second RemoteQMCloseCursor to dwpQueue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        self.count += 1
        return {} if self.count % 2 else {"hQueue": queue.QueueDescriptor}


@fault("client-close-cursor-sends-h-queue-of-first-opened-queue", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientCloseCursorSendsHQueueOfFirstOpenedQueue(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened first."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        first = next(iter(self.qm.remote_client.queues.values()))
        return {**super().build_close_cursor_arguments(queue, cursor), "hQueue": first.QueueHandle}


@fault("client-close-cursor-sends-h-queue-of-last-opened-queue", breaks="MQQP-3.2.4.8-03", blind=True)
class ClientCloseCursorSendsHQueueOfLastOpenedQueue(ClientReadCancelling):
    """The client sets hQueue of RemoteQMCloseCursor to the phQueue of the queue that it opened last."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        last = list(self.qm.remote_client.queues.values())[-1]
        return {**super().build_close_cursor_arguments(queue, cursor), "hQueue": last.QueueHandle}


@fault("client-close-cursor-sends-h-cursor-of-first-cursor", breaks="MQQP-3.2.4.8-04")
class ClientCloseCursorSendsHCursorOfFirstCursor(ClientReadCancelling):
    """The client sets hCursor of RemoteQMCloseCursor to another open cursor of the queue, if such a cursor exists."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = [
            handle for other, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if other is queue
        ]
        return {**super().build_close_cursor_arguments(queue, cursor), "hCursor": [*others, cursor][0]}


@fault("client-close-cursor-sends-low-31-bits-of-h-cursor", breaks="MQQP-3.2.4.8-04")
class ClientCloseCursorSendsLow31BitsOfHCursor(ClientReadCancelling):
    """The client sets hCursor of RemoteQMCloseCursor to the low 31 bits of phCursor."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        return {**super().build_close_cursor_arguments(queue, cursor), "hCursor": cursor & 0x7FFFFFFF}


@fault("client-h-cursor-of-close-cursor-is-newest-open-cursor", breaks="MQQP-3.2.4.8-04")
class ClientHCursorOfCloseCursorIsNewestOpenCursor(_CloseCursorParameterChanger):
    """The client sets hCursor of RemoteQMCloseCursor to the handle of its newest open cursor."""

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = list(self.qm.remote_client.queue_and_handle_by_cursor.values())
        return {"hCursor": others[-1][1]} if others else {}


@fault("client-h-cursor-of-close-cursor-is-first-closed-cursor", breaks="MQQP-3.2.4.8-04")
class ClientHCursorOfCloseCursorIsFirstClosedCursor(_CloseCursorParameterChanger):
    """The client sets hCursor of each RemoteQMCloseCursor to the handle of the first cursor that it closed."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first = 0

    def change(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        self.first = self.first or cursor
        return {"hCursor": self.first}


@fault("client-close-cursor-sends-h-cursor-of-other-queue", breaks="MQQP-3.2.4.8-04", blind=True)
class ClientCloseCursorSendsHCursorOfOtherQueue(ClientReadCancelling):
    """If a cursor of another queue is open, the client sets hCursor of RemoteQMCloseCursor to that cursor."""

    def build_close_cursor_arguments(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
        others = [
            handle for owner, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if owner is not queue
        ]
        return {**super().build_close_cursor_arguments(queue, cursor), "hCursor": others[0] if others else cursor}
