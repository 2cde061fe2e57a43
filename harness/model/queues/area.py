"""The area `queues`. It contains all actions of applications and administrators on queues, the passing of time, and a
restart of the system.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.administering import AdministrationTransitions
from harness.model.queues.base import TIMER_MARGIN_MS
from harness.model.queues.data_model import DATA_MODEL_KEY, describe_operations, describe_queue
from harness.model.queues.looking_up import LookupTransitions
from harness.model.queues.state import (
    AVAILABLE_MESSAGE_STATE,
    PURGE_PENDING_MESSAGE_STATE,
    MessagePosition,
    WaitingRead,
)
from harness.model.queues.transactions import TransactionTransitions
from harness.model.steps import ImpossibleStep, transition

PAUSES_TO_DRAW_FROM_MS = (1_000, 4_000, 7_000, 30_000, 90_000)


class QueuesModel(AdministrationTransitions, LookupTransitions, TransactionTransitions):
    """The model of the queues of one queue manager."""

    @transition(
        "MQDMPR-3.1.2.3-02", "MQDMPR-3.1.6.3-03", "MQDMPR-3.1.2.4-01", "MQDMPR-3.1.7.2.7-12", needs=("receive",)
    )
    def pause(self, ms: int) -> None:
        """Let time pass. Waiting reads whose timeout expires end, and messages whose time limit is reached expire."""
        until_ms = self.now_ms + ms
        for due_ms, _, one in self._list_due_times(until_ms):
            self.now_ms = due_ms
            if isinstance(one, WaitingRead):
                if one in one.handle.readers:
                    self.end_read_without_message(one, "MQ_ERROR_IO_TIMEOUT")
            else:
                self.delete_position(one, "NACK_RECEIVE_TIMEOUT")
        self.now_ms = until_ms

    def _list_due_times(self, until_ms: int) -> list[tuple[int, int, WaitingRead | MessagePosition]]:
        """Return, in order, the times up to a given time at which waits end or messages expire; raise ImpossibleStep if
        the order is uncertain.
        """
        if any(abs(one.due_ms - until_ms) < TIMER_MARGIN_MS for one in self.readers()):
            raise ImpossibleStep
        due: list[tuple[int, int, WaitingRead | MessagePosition]] = []
        due += [(one.due_ms, place, one) for place, one in enumerate(self.readers())]
        waits_ms = [one.due_ms for one in self.readers()]
        for queue in self.iterate_queues():
            for position in queue.positions:
                due_ms = position.expires_ms
                if due_ms is None:
                    continue
                if any(abs(due_ms - other_ms) < TIMER_MARGIN_MS for other_ms in (until_ms, *waits_ms)):
                    raise ImpossibleStep
                if position.state != AVAILABLE_MESSAGE_STATE and due_ms < until_ms:
                    raise ImpossibleStep
                due.append((due_ms, len(due), position))
        return sorted(one for one in due if one[0] <= until_ms)

    @transition("MQDMPR-3.1.2.3-02", "MQDMPR-3.1.6.3-03", "MQDMPR-3.1.7.2.7-12", needs=("receive",), weight=0)
    def elapse(self, ms: int) -> None:
        """Let as much time pass in the model as a real system needed for the last step. This transition is never chosen
        at random.
        """
        self.pause(ms)

    def draw_elapse(self, chance: Random) -> dict[str, Any]:
        raise ImpossibleStep

    def draw_pause(self, chance: Random) -> dict[str, Any]:
        ms = chance.choice(PAUSES_TO_DRAW_FROM_MS)
        self._list_due_times(self.now_ms + ms)
        return {"ms": ms}

    @transition("MQDMPR-3.1.1.11-07", "MQDMPR-3.1.3-D13", needs=("restart",), weight=6)
    def restart(self) -> None:
        """Restart the system. Express messages, handles and waits are lost, and undecided transactions are aborted."""
        for queue in self.iterate_queues():
            queue.handles.clear()
        self.handles.clear()
        self.cursors.clear()
        for transaction in list(self.transactions.values()):
            if transaction.state == "active":
                self.undo_transaction(transaction)
        kept = {one.position for transaction in self.transactions.values() for one in transaction.operations}
        for queue in self.iterate_queues():
            queue.positions = [
                one for one in queue.positions if one.message.recoverable and self._stays_after_restart(one, kept)
            ]
        self.answer_with_success()

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the visible state, including the elements of the abstract data model."""
        operations = {name: describe_operations(one) for name, one in self.transactions.items()}
        return super().describe_visible_state() | {
            DATA_MODEL_KEY: {
                **{name: describe_queue(one) for name, one in self.queues.items() if one.parent is None},
                **{name: one for name, one in operations.items() if one is not None},
            }
        }

    def _stays_after_restart(self, position: MessagePosition, kept: set[MessagePosition]) -> bool:
        return position.state != PURGE_PENDING_MESSAGE_STATE or position in kept

    def draw_restart(self, chance: Random) -> dict[str, Any]:
        prepared = [one for one in self.transactions.values() if one.state != "active"]
        moves = any(each.target for one in prepared for each in one.operations)
        if self.readers() or chance.random() < (0 if moves else 0.2 if prepared else 0.88):
            raise ImpossibleStep
        return {}
