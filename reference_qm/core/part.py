"""The base class of the parts of the queue manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
"""A table entry: a function that takes the queue manager and returns a method of one of its present parts."""


class Part:
    """The base class of the parts of a queue manager.

    The methods of a part are steps of the specification; the state belongs to the queue manager. The parts call each
    other through their queue manager (``self.qm.session_acks.send(session, now)``). So an instance of a subclass can
    replace a part.
    """

    __slots__ = ("qm",)

    def __init__(self, qm: QueueManager) -> None:
        self.qm = qm
