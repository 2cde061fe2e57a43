"""Faults in which a two-phase receive does not leave its message in its position."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.two_phase_reading import TwoPhaseReading
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class BegunTwoPhaseReceiveChanger(TwoPhaseReading):
    """A part of the queue manager that changes something when a two-phase receive begins; a subclass defines the
    change.
    """

    def change_begun_two_phase_receive(self, position: MessagePosition, cursor: Cursor | None) -> None:
        raise NotImplementedError

    def dequeue_message_begin(
        self,
        queue_desc: OpenQueueDescriptor,
        answered: OnReadAnswered,
        now: Now,
        timeout_ms: int | None = None,
        cursor: Cursor | None = None,
        tag: Hashable | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        def change_and_answer(status: Status, position: MessagePosition | None) -> None:
            if position is not None and transaction is None:
                self.change_begun_two_phase_receive(position, cursor)
            answered(status, position)

        super().dequeue_message_begin(queue_desc, change_and_answer, now, timeout_ms, cursor, tag, transaction)


@fault("queue-manager-message-of-two-phase-receive-deleted-on-disk", breaks="MQDMPR-3.1.7.1.10-02", blind=True)
class QueueManagerMessageOfTwoPhaseReceiveDeletedOnDisk(BegunTwoPhaseReceiveChanger):
    """A two-phase receive deletes the record of the message on disk at once, so that the message is lost if the queue
    manager restarts before the receive is ended.
    """

    def change_begun_two_phase_receive(self, position: MessagePosition, cursor: Cursor | None) -> None:
        self.qm.disk.save(build_removal_change([position]))


@fault("queue-manager-second-two-phase-receive-moves-its-message-to-end", breaks="MQDMPR-3.1.7.1.10-02", blind=True)
class QueueManagerSecondTwoPhaseReceiveMovesItsMessageToEnd(BegunTwoPhaseReceiveChanger):
    """If a two-phase receive begins before an earlier one is ended, the message of the later receive moves to the end
    of the queue.
    """

    def change_begun_two_phase_receive(self, position: MessagePosition, cursor: Cursor | None) -> None:
        count = self.__dict__["count"] = self.__dict__.get("count", 0) + 1
        if count > 1:
            messages = position.QueueReference.MessagePositionList
            messages.remove(position)
            messages.insert(position)

    def dequeue_message_end(
        self,
        queue_desc: OpenQueueDescriptor,
        position: MessagePosition,
        delete_message: bool,
        ended: Callable[[Status], None],
        transactional: bool = False,
    ) -> None:
        self.__dict__["count"] = self.__dict__.get("count", 0) - 1
        super().dequeue_message_end(queue_desc, position, delete_message, ended, transactional)
