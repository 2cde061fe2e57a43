"""Defines the base class of the parts of the queue manager."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager

QM: TypeAlias = "QueueManager"
"""An entry of a dispatch table: a function that takes the queue manager and returns a method of the part that the
queue manager has at that time.
"""


class Part:
    """The base class of the parts of a queue manager.

    The methods of a part are steps of the specification, and the queue manager keeps the state. A part calls
    another part through the queue manager (``self.qm.session_acks.send(session, now)``). Therefore an instance of a
    subclass can replace a part.
    """

    __slots__ = ("qm",)

    def __init__(self, qm: QueueManager) -> None:
        self.qm = qm
