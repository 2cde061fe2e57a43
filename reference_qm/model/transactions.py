"""The elements of a unit of work. Spec: MS-MQDMPR 3.1.1.13, 3.1.1.14."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.codec import MessageClass

if TYPE_CHECKING:
    from reference_qm.model.adm import MessagePosition, Queue


class OperationType(Enum):
    """TransactionalOperation.OperationType. Spec: MS-MQDMPR 3.1.1.13."""

    ENQUEUE = "Enqueue"
    DEQUEUE = "Dequeue"
    MOVE = "Move"


class TransactionState(Enum):
    """The state of a transaction: only an active one takes operations, only a prepared one survives a crash."""

    ACTIVE = "active"
    PREPARING = "preparing"
    """Its vote is on its way to the disk."""
    PREPARED = "prepared"
    ENDING = "ending"
    """Its outcome is decided and on its way to the disk."""


@dataclass(slots=True, eq=False)
class TransactionalOperation:
    """One thing that is done when the transaction commits. Spec: MS-MQDMPR 3.1.1.13.

    ``DequeueReason``: of Dequeue only; ``TargetQueueReference``: of Move only.
    """

    OperationType: OperationType
    MessagePositionReference: MessagePosition
    TargetQueueReference: Queue | None = None
    DequeueReason: MessageClass | None = None


@dataclass(slots=True, eq=False)
class Transaction:
    """A unit of work. Spec: MS-MQDMPR 3.1.1.14. ``SinglePhase``: no coordinator (DTC) is in charge of it.

    ``number``: what TransactionHeader.Flags.ID of its messages is, 20 bits (MS-MQMQ 2.2.20.5); 0 while there are none.
    """

    Identifier: UUID
    SinglePhase: bool = True
    TransactionalOperationCollection: list[TransactionalOperation] = field(default_factory=list)
    number: int = 0
    state: TransactionState = TransactionState.ACTIVE
