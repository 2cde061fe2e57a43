"""The area `transfer`, in which the peer and the system send each other messages, sessions are lost, and
applications receive messages.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.reading import ReadTransitions
from harness.model.steps import ImpossibleStep, Step, transition
from harness.model.transfer.securing import SecuredDeliveryTransitions
from harness.model.transfer.ship_secured import SecuredShipTransitions

_LOCAL_TRANSITIONS = frozenset(ReadTransitions.transitions) - {"receive"} | {
    "create",
    "create_subqueue",
    "set_queue",
    "delete",
    "send",
    "move",
}

_TRANSITIONS_WITHOUT_DURATION = ("receive", "purge")
"""The transitions of the model ``queues`` during which no time passes."""


class TransferModel(SecuredDeliveryTransitions, SecuredShipTransitions):
    """The model of messages between two queue managers."""

    omitted_inherited_transitions = frozenset(_LOCAL_TRANSITIONS)

    def take(self, step: Step) -> None:
        super().take(step)
        if step.name in _TRANSITIONS_WITHOUT_DURATION:
            self.settle()

    @transition("MQQB-3.1.5.9-D02", needs=(), weight=1)
    def hang_up(self, session: str) -> None:
        """Let the peer close a session; raise ImpossibleStep if messages or acknowledgments from the system may be
        unacknowledged.
        """
        if self.table or self.lost or self.silent:
            raise ImpossibleStep
        self.close_sessions(self.find_open_session(session).name)
        self.settle()
        self.answer_with_success()

    def draw_hang_up(self, chance: Random) -> dict[str, Any]:
        if self.table or self.lost or self.silent:
            raise ImpossibleStep
        return {"session": self.draw_session(chance)}

    def draw_wait(self, chance: Random, queue: str | None) -> dict[str, Any]:
        return {"wait_ms": 0}
