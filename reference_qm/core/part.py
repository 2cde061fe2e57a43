"""Defines the base class of the parts of the queue manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
"""The type of the queue manager in the annotations of parts, which cannot import the class at run time."""


class QueueManagerPart:
    """The base class of the parts of a queue manager: objects whose methods carry out the steps of the specifications.

    A part has no state of its own; the queue manager contains the state. A part calls other
    parts only through the queue manager (``self.qm.session_acks.send(session, now)``), so that an instance of a
    subclass can replace any part.
    """

    __slots__ = ("qm",)

    def __init__(self, qm: QueueManager) -> None:
        self.qm = qm
