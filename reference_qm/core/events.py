"""Defines the events with which a lower layer reports changes that concern a higher layer.

A part posts an event (``self.qm.post_event(...)``). When the current input or timer has been handled, the methods that
``dispatch.HANDLERS_BY_EVENT_TYPE`` lists for the event are called.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from reference_qm.codec import MessageClass
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.model.transactions import Transaction
from reference_qm.rpc import RpcEvent


class TransactionOutcome(Enum):
    """The outcome of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True, eq=False)
class MessageLeftQueue:
    """A message left its queue. The event contains the reason. Spec: MS-MQDMPR 3.1.7.2.1."""

    position: MessagePosition
    reason: MessageClass


@dataclass(frozen=True, slots=True, eq=False)
class MessageArrived:
    """A transaction was committed, and a message that it sent to a local queue can now be received. Spec: MS-MQDMPR
    3.1.4.4.
    """

    position: MessagePosition


@dataclass(frozen=True, slots=True, eq=False)
class MessageSent:
    """A message was sent on a session. Spec: MS-MQQB 3.1.7.1.7."""

    session: Session
    message: Message


@dataclass(frozen=True, slots=True, eq=False)
class MessageExpired:
    """A message expired before it was sent, and left its outgoing queue. Spec: MS-MQQB 3.1.7.1.2."""

    position: MessagePosition


@dataclass(frozen=True, slots=True)
class SessionMaySend:
    """A session may send further messages. Spec: MS-MQDMPR 3.1.7.3.9."""

    session: Session


@dataclass(frozen=True, slots=True, eq=False)
class SessionClosed:
    """A session was closed. Spec: MS-MQQB 3.1.5.9."""

    session: Session


@dataclass(frozen=True, slots=True, eq=False)
class TransactionDecided:
    """The outcome of a transaction has been decided. If the outcome must be on disk, it is on disk. Spec: MS-MQDMPR
    3.1.4.4, 3.1.4.5.
    """

    transaction: Transaction
    outcome: TransactionOutcome


@dataclass(frozen=True, slots=True)
class MessageDeadlinesChanged:
    """The deadline of a message was added or changed, so the timer that waits for the next deadline must be set to a
    new time. Spec: MS-MQDMPR 3.1.2.4.
    """


@dataclass(frozen=True, slots=True)
class DirectoryBecameUnreachable:
    """The directory cannot be reached. Spec: MS-MQDMPR 3.1.2.5."""


@dataclass(frozen=True, slots=True, eq=False)
class RpcEventOccurred:
    """A DCE/RPC client made a call, cancelled a call or disconnected. Spec: MS-MQQP 3.1.4, 3.1.6."""

    event: RpcEvent


Event = (
    MessageLeftQueue
    | MessageArrived
    | MessageSent
    | MessageExpired
    | SessionMaySend
    | SessionClosed
    | TransactionDecided
    | MessageDeadlinesChanged
    | DirectoryBecameUnreachable
    | RpcEventOccurred
)
