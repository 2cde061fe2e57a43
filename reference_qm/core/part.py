"""The base of the parts of the queue manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
"""For the tables of methods: a function from the queue manager to the method of the part that is there by then."""


class Part:
    """One part of the specification: its steps are methods, its state is the queue manager's.

    The parts call each other through their queue manager (``self.qm.session_acks.send(session, now)``), so that a part
    is replaced by an instance of a subclass put in its place.
    """

    __slots__ = ("qm",)

    def __init__(self, qm: QueueManager) -> None:
        self.qm = qm
