"""Defines the elements of a transaction (unit of work). Spec: MS-MQDMPR 3.1.1.13, 3.1.1.14."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.codec import MessageClass

if TYPE_CHECKING:
    from reference_qm.model.adm import MessagePosition, Queue


class OperationType(Enum):
    """The values of TransactionalOperation.OperationType. Spec: MS-MQDMPR 3.1.1.13."""

    ENQUEUE = "Enqueue"
    DEQUEUE = "Dequeue"
    MOVE = "Move"


class TransactionState(Enum):
    """The state of a transaction. Only an active transaction accepts operations, and only a prepared transaction
    survives a crash.
    """

    ACTIVE = "active"
    PREPARING = "preparing"
    """The vote is decided and is being written to the disk."""
    PREPARED = "prepared"
    ENDING = "ending"
    """The outcome is decided and is being written to the disk."""


@dataclass(slots=True, eq=False)
class TransactionalOperation:
    """An operation that takes effect when its transaction commits. Spec: MS-MQDMPR 3.1.1.13.

    Only a Dequeue has a ``DequeueReason``, and only a Move has a ``TargetQueueReference``.
    """

    OperationType: OperationType
    MessagePositionReference: MessagePosition
    TargetQueueReference: Queue | None = None
    DequeueReason: MessageClass | None = None


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction (unit of work). Spec: MS-MQDMPR 3.1.1.14. ``SinglePhase`` states whether the transaction has no
    coordinator (DTC).

    ``number`` is the TransactionHeader.Flags.ID of the messages in the transaction, 20 bits (MS-MQMQ 2.2.20.5). The
    number is 0 until a message is sent in the transaction.
    """

    Identifier: UUID
    SinglePhase: bool = True
    TransactionalOperationCollection: list[TransactionalOperation] = field(default_factory=list)
    number: int = 0
    state: TransactionState = TransactionState.ACTIVE
