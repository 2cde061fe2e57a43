"""Faults of MS-MQQB 3.1.7.14 Resume Queue Event that depend on the queue, the messages and earlier events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.core.transfer.transfer_administering import TransferAdministering

Condition = Callable[[Any, Any, int], bool]
"""The type of conditions: a function of the part, the outgoing queue and the number of earlier resumes."""


def _count_earlier_resumes(self: Any, queue: Any) -> int:
    resumed = self.__dict__.setdefault("resumed", {})
    earlier: int = resumed.get(queue.session.number, 0)
    resumed[queue.session.number] = earlier + 1
    return earlier


def _omit_session_of_resumed_queue(when: Condition) -> Install:
    """Return an installer of a fault that does not establish a session for selected resumed queues."""

    def run(self: Any, original: Any, queue: Any, now: Any) -> None:
        establishing = self.qm.session_establishing
        chosen = when(self, queue, _count_earlier_resumes(self, queue))
        if (chosen and queue.session.transport is None) or (
            chosen and not self.qm.is_connected(queue.session, queue.session.transport)
        ):
            self.qm.session_establishing = _EstablishingThatOmitsSessionOfResumedQueue()
        try:
            original(queue, now)
        finally:
            self.qm.session_establishing = establishing

    return change_step(TransferAdministering.resume_queue, run)


class _EstablishingThatOmitsSessionOfResumedQueue:
    def establish(self, session: Any, now: Any, **named: Any) -> None:
        """Do nothing."""


def _dispatch_selected_messages(when: Callable[[Any, int, int], bool]) -> Install:
    """Return an installer of a fault that dispatches only selected messages of a resumed queue; ``when`` gets the
    position of a message, its place and the number of earlier resumes.
    """

    def run(self: Any, original: Any, queue: Any, now: Any) -> None:
        earlier = _count_earlier_resumes(self, queue)
        table = queue.session.OutgoingMessageTable
        waiting = [one for one in table if not one.AwaitingAck]
        left = {one.order for place, one in enumerate(waiting) if not when(one, place, earlier)}
        add_message = self.qm.dispatch_collection.add
        kept = self.qm.dispatch_collection
        self.qm.dispatch_collection = _DispatchCollectionSelectingMessages(kept, left, add_message)
        try:
            original(queue, now)
        finally:
            self.qm.dispatch_collection = kept

    return change_step(TransferAdministering.resume_queue, run)


class _DispatchCollectionSelectingMessages:
    def __init__(self, kept: Any, left: set[int], add_message: Any) -> None:
        self.kept, self.left, self.add_message = kept, left, add_message

    def add(self, session: Any, position: Any) -> None:
        """Dispatch a message unless the fault leaves it out."""
        if position.order not in self.left:
            self.add_message(session, position)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kept, name)


def _clear_session_active_after_resume(when: Condition) -> Install:
    def run(self: Any, original: Any, queue: Any, now: Any) -> None:
        chosen = when(self, queue, _count_earlier_resumes(self, queue))
        original(queue, now)
        if chosen:
            queue.session.SessionActive = False

    return change_step(TransferAdministering.resume_queue, run)


def _resume_first_paused_queue(self: Any, original: Any, queue: Any, now: Any) -> None:
    held = [one for one in self.qm.adm.OutgoingQueues.values() if one.State is queue.State]
    original(held[0] if held else queue, now)


def _is_queue_resumed_after_another_queue(self: Any, queue: Any, earlier: int) -> bool:
    return bool(earlier == 0 and len(self.resumed) > 1)


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    (
        "initiator-second-resumed-queue-not-connected",
        ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03"),
        "The initiator establishes no session for the second outgoing queue that is resumed.",
        _omit_session_of_resumed_queue(_is_queue_resumed_after_another_queue),
    ),
    (
        "initiator-queue-resumed-again-not-connected",
        ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03"),
        "The initiator establishes no session when an outgoing queue is resumed for the second time.",
        _omit_session_of_resumed_queue(lambda self, queue, earlier: earlier > 0),
    ),
    (
        "initiator-resumed-queue-with-one-message-not-connected",
        ("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03"),
        "The initiator establishes no session for a resumed outgoing queue with only one message.",
        _omit_session_of_resumed_queue(lambda self, queue, earlier: len(queue.session.OutgoingMessageTable) == 1),
    ),
    *(
        (
            f"queue-manager-{label}-not-sent-after-resume",
            ("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04"),
            f"The queue manager does not send {words} when an outgoing queue is resumed.",
            _dispatch_selected_messages(when),
        )
        for label, words, when in (
            ("third-message", "the third and each later message", lambda one, place, earlier: place < 2),
            ("express-message", "an express message", lambda one, place, earlier: one.recoverable),
            (
                "transactional-message",
                "a transactional message",
                lambda one, place, earlier: not one.TxSequenceNumber,
            ),
            ("urgent-message", "a message with a priority above 3", lambda one, place, earlier: one.priority <= 3),
            ("message-of-second-pause", "a message of the second pause", lambda one, place, earlier: earlier == 0),
            (
                "own-message",
                "a message that it created itself",
                lambda one, place, earlier: not one.UserMessage.MessagePropertiesHeader.MessageClass,
            ),
        )
    ),
    (
        "queue-manager-first-held-queue-resumed",
        ("MQQB-3.1.7.14-02", "MQQB-3.1.7.14-04"),
        "The queue manager resumes the first outgoing queue that is on hold, instead of the queue that is named.",
        change_step(TransferAdministering.resume_queue, _resume_first_paused_queue),
    ),
    (
        "queue-manager-session-active-unchanged-by-second-resume",
        "MQQB-3.1.7.14-07",
        "The queue manager does not set SessionActive to TRUE when a queue is resumed for the second time.",
        _clear_session_active_after_resume(lambda self, queue, earlier: earlier > 0),
    ),
    (
        "queue-manager-session-active-unchanged-by-resume-with-one-message",
        "MQQB-3.1.7.14-07",
        "The queue manager does not set SessionActive to TRUE when a queue with one message is resumed.",
        _clear_session_active_after_resume(lambda self, queue, earlier: len(queue.session.OutgoingMessageTable) == 1),
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
