"""Faults that reproduce the bug that Microsoft article KB831160 describes."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.registry import FaultyCore, add
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_ending import RemoteReadEnding
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

DelayedEndCallback = Callable[[], None]


def _delay_end_of_receive(faulty: FaultyCore) -> None:
    """Report the end of a receive to the client at once, but carry it out only after the client's next read."""
    late: list[DelayedEndCallback] = []

    class DelayedRemoteEnding(RemoteReadEnding):
        def end_remote_read(
            self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]
        ) -> None:
            if delete_message:
                super().end_remote_read(entry, delete_message, ended)
                return
            end = super().end_remote_read
            late.append(lambda: end(entry, delete_message, lambda status: None))
            ended(Status.MQ_OK)

    class RemoteReadBeforeEnd(RemoteReads):
        def remote_receive(
            self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
        ) -> None:
            super().remote_receive(entry, descriptor, cursor, now)
            while late:
                late.pop(0)()

    replace_part(DelayedRemoteEnding)(faulty)
    replace_part(RemoteReadBeforeEnd)(faulty)


add(
    "regression-831160-read-before-end-of-receive",
    "REGRESSIONS-831160-01",
    "The server carries out a read before the end of a receive, although the client requested that end first.",
    _delay_end_of_receive,
)


def _hide_first_message(faulty: FaultyCore) -> None:
    """Hide the first of several messages while a remote receive searches for a message."""

    class FirstMessageHider(RemoteReads):
        def remote_receive(
            self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
        ) -> None:
            queue = descriptor.QueueReference
            found: list[MessagePosition] = [] if queue is None else list(queue.MessagePositionList)
            free = [one for one in found if one.State is MessagePositionState.AVAILABLE]
            hidden = free[:1] if len(free) > 1 else []
            for one in hidden:
                one.State = MessagePositionState.LOCKED
            super().remote_receive(entry, descriptor, cursor, now)
            for one in hidden:
                one.State = MessagePositionState.AVAILABLE

    replace_part(FirstMessageHider)(faulty)


add(
    "regression-831160-second-message-returned",
    "REGRESSIONS-831160-01",
    "A remote receive returns the second message of a queue that has more than one message.",
    _hide_first_message,
)
