"""Defines the elements through which an open queue is used: descriptors, cursors and waiting reads. These elements are
lost when the process ends.

Spec: MS-MQDMPR 3.1.1.10, 3.1.1.16, 3.2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_qm.model import enums
from reference_qm.model.statuses import Status

if TYPE_CHECKING:
    from reference_qm.model.adm import MessagePosition, Queue
    from reference_qm.model.position_list import Boundary
    from reference_qm.model.transactions import Transaction

OnReadAnswered = Callable[[Status, "MessagePosition | None"], None]
"""The function to which a read passes its return values: rStatus, and the position of rMessage if rStatus is MQ_OK."""


@dataclass(slots=True, eq=False, kw_only=True)
class OpenQueueDescriptor:
    """The descriptor of an open queue. Spec: MS-MQDMPR 3.1.1.16. QueueReference is None after the deletion of the
    queue.

    CursorCollection and WaitingMessageReadOperationCollection keep the order of their elements. CursorCollection is
    indexed by Handle.
    """

    Handle: int = field(metadata={"width": 64})
    AccessType: enums.QueueAccessType
    ShareMode: enums.QueueShareMode
    QueueReference: Queue | None
    FormatName: str
    Multiple: bool = False
    OpenQueueDescriptorCollection: list[OpenQueueDescriptor] = field(default_factory=list)
    RemoteReadState: enums.RemoteReadState = enums.RemoteReadState.NONE
    CursorCollection: dict[int, Cursor] = field(default_factory=dict)
    WaitingMessageReadOperationCollection: dict[WaitingMessageReadOperation, None] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Cursor:
    """An iterator over the messages of a queue. Spec: MS-MQDMPR 3.2.1.2."""

    Handle: int = field(metadata={"width": 32})
    OpenQueueDescriptorReference: OpenQueueDescriptor
    MessagePositionReference: MessagePosition | Boundary
    CursorState: enums.CursorState = enums.CursorState.UNREAD


@dataclass(slots=True, eq=False, kw_only=True)
class WaitingMessageReadOperation:
    """A read that waits for a message. Spec: MS-MQDMPR 3.1.1.10.

    ``number`` is the number of the timer of the read, ``descriptor`` is the descriptor whose collection contains
    the read, ``answered`` is the function to which the result is passed, and ``transaction`` is the transaction in
    which the message is received.
    """

    DestructiveRead: bool
    Tag: Hashable | None
    CursorReference: Cursor | None
    number: int
    descriptor: OpenQueueDescriptor
    answered: OnReadAnswered
    transaction: Transaction | None = None
