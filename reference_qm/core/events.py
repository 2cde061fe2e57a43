"""Defines events: changes in one layer that have consequences in a higher layer.

A part posts an event (``self.qm.post(...)``). The methods that ``dispatch.ON_EVENT`` names handle the event after the
input or timer that caused it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from reference_qm.codec import MessageClass
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.model.transactions import Transaction
from reference_qm.rpc import RpcEvent


class Outcome(Enum):
    """The outcome of a transaction."""

    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True, eq=False)
class MessageLeft:
    """A message left its queue for the given reason. Spec: MS-MQDMPR 3.1.7.2.1."""

    position: MessagePosition
    reason: MessageClass


@dataclass(frozen=True, slots=True, eq=False)
class MessageArrived:
    """A message that a transaction sent to a local queue is available. Spec: MS-MQDMPR 3.1.4.4."""

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
    """A session may send more messages than before. Spec: MS-MQDMPR 3.1.7.3.9."""

    session: Session


@dataclass(frozen=True, slots=True, eq=False)
class SessionClosed:
    """A session was closed. Spec: MS-MQQB 3.1.5.9."""

    session: Session


@dataclass(frozen=True, slots=True, eq=False)
class TransactionDecided:
    """The outcome of a transaction is decided, and on disk if required. Spec: MS-MQDMPR 3.1.4.4, 3.1.4.5."""

    transaction: Transaction
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class LifetimesChanged:
    """A different message may now be the next message to expire. Spec: MS-MQDMPR 3.1.2.4."""


@dataclass(frozen=True, slots=True)
class DirectoryLost:
    """The directory cannot be reached. Spec: MS-MQDMPR 3.1.2.5."""


@dataclass(frozen=True, slots=True, eq=False)
class RpcHappened:
    """A DCE/RPC client made a call, cancelled a call or disconnected. Spec: MS-MQQP 3.1.4, 3.1.6."""

    event: RpcEvent


Event = (
    MessageLeft
    | MessageArrived
    | MessageSent
    | MessageExpired
    | SessionMaySend
    | SessionClosed
    | TransactionDecided
    | LifetimesChanged
    | DirectoryLost
    | RpcHappened
)
