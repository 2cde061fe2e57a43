"""Faults of a queue manager that starts. Spec: MS-MQQB 3.1.1.3, 3.1.1.3.1, 3.1.3.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.primitives import afterwards, procedure
from harness.faults.registry import Install, add
from reference_qm.codec import TxSequenceID
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.transactional_sending import TransactionalSending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import NO_INCOMING, IncomingTransactionalTransferInfo, OutgoingQueue, Queue
from reference_qm.model.message import Message
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.security import CachedSymmetricKey
from reference_qm.surface.clock import Now

STATE, SESSION, RULE = "MQQB-3.1.1.3", "MQQB-3.1.1.3.1", "MQQB-3.1.3.1"
NOBODY = UUID(int=0)


def _at_restart(change: Callable[[QueueManager], None]) -> Install:
    return lambda faulty: faulty.on_restart.append(lambda core: change(core.core))


# -- elements of the queue manager --------------------------------------------------------------------------------


def _other_timeout(name: str) -> Callable[[QueueManager], None]:
    def change(qm: QueueManager) -> None:
        setattr(qm.adm, name, getattr(qm.adm, name) + 1)

    return change


def _table(first: int, count: int) -> Install:
    """Fill a part of the ResendTimerTable with other values."""

    def change(qm: QueueManager, now: Now) -> None:
        table = list(qm.adm.ResendTimerTable)
        table[first : first + count] = [7] * count
        qm.adm.ResendTimerTable = tuple(table)

    return afterwards(Initialization.initialize_globally, change)


def _cached(name: str) -> Install:
    """Let a cache have an entry after a start."""
    key = CachedSymmetricKey(NOBODY, "none", 0, b"", b"", 0)
    return afterwards(Initialization.initialize_globally, lambda qm, now: getattr(qm.caches, name).add(key))


def _setting(name: str) -> Install:
    def change(qm: QueueManager, now: Now) -> None:
        old = getattr(qm.security_settings, name)
        qm.security_settings = replace(qm.security_settings, **{name: True if isinstance(old, bool) else old + 1})

    return afterwards(Initialization.initialize_globally, change)


def _history_timer(running: bool) -> Install:
    def change(qm: QueueManager, now: Now) -> None:
        if running:
            qm.initialization.start_history_timer(now)
        else:
            qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))

    return afterwards(Initialization.initialize_globally, change)


_TIMEOUTS = ("ResendTimeoutsShort", "ResendTimeoutsMedium", "ResendTimeoutsLong", "ResendTimeoutsFinal")
for _number, _name in zip(("28", "29", "30", "31"), _TIMEOUTS, strict=True):
    _says = f"{_name} is another after a restart."
    add(f"start-{_name}", f"{STATE}-{_number}", _says, _at_restart(_other_timeout(_name)))
for _number, _first, _count in (("02", 0, 3), ("03", 3, 3), ("04", 6, 3), ("05", 9, 1)):
    _says = f"{_count} entries of the ResendTimerTable from number {_first} on are 7 s."
    add(f"start-resend-table-{_first}", f"{RULE}-{_number}", _says, _table(_first, _count))
add(
    "start-history-timer", f"{RULE}-06", "The history is cleaned up although it is empty.", _history_timer(running=True)
)
add("start-no-history-timer", f"{RULE}-07", "The history is never cleaned up.", _history_timer(running=False))
for _number, _name in (
    ("08", "UserCertCache"),
    ("11", "ReceiveSymmetricKeyCache"),
    ("12", "ReceiveBaseSymmetricKeyCache"),
    ("14", "SendSymmetricKeyCache"),
    ("15", "SendBaseSymmetricKeyCache"),
):
    add(f"start-{_name}", f"{RULE}-{_number}", f"{_name} has an entry after a start.", _cached(_name))
for _number, _name in (
    ("09", "UserCertCacheSize"),
    ("10", "UserCertLifetime"),
    ("13", "ReceiveSymmetricKeyCacheSize"),
    ("16", "SendSymmetricKeyCacheSize"),
    ("17", "SymmetricKeyShortLifetime"),
    ("18", "SymmetricKeyLongLifetime"),
    ("19", "PreferredAdvancedAlgorithm"),
    ("20", "PreferredEnhancedAlgorithm"),
    ("21", "PreferredBaseAlgorithm"),
    ("22", "SendEnhancedRC2Using40BitKeys"),
    ("23", "RejectEnhancedRC2Using40BitKeys"),
):
    add(f"start-{_name}", f"{RULE}-{_number}", f"{_name} has another value.", _setting(_name))


# -- transactional sequences --------------------------------------------------------------------------------------


def _outgoing(change: Callable[[OutgoingQueue], None]) -> Install:
    def spoil(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            change(queue)

    return _at_restart(spoil)


def _other_outgoing_identifier(queue: OutgoingQueue) -> None:
    identifier = queue.session.OutgoingTxSequenceID
    queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal + 1, identifier.TimeStamp)


def _first_number_again(queue: OutgoingQueue) -> None:
    queue.session.OutgoingTxSequenceNumber = 1


def _incoming(change: Callable[[IncomingTransactionalTransferInfo], None]) -> Install:
    def spoil(qm: QueueManager) -> None:
        queues: list[Queue] = list(qm.adm.QueueCollection.values())
        for queue in queues:
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                change(transfer)

    return _at_restart(spoil)


def _no_identifier(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceIdentifier = NO_INCOMING


def _no_number(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceNumber = 0


def _no_rejections(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.RejectCount = 0


def _not_from_zero(original: Callable[..., Any]) -> Callable[..., Any]:
    """Ask more of a first identifier than that it is greater than zero."""

    def is_in_sequence(qm: QueueManager, session: Any, packet: Any) -> bool:
        if session.IncomingTxSequenceID == NO_INCOMING and not packet.TransactionHeader.TxSequenceID.TimeStamp:
            return False
        return bool(original(qm, session, packet))

    return is_in_sequence


def _from_any_number(original: Callable[..., Any]) -> Callable[..., Any]:
    def is_in_sequence(qm: QueueManager, session: Any, packet: Any) -> bool:
        return session.IncomingTxSequenceID == NO_INCOMING or bool(original(qm, session, packet))

    return is_in_sequence


def _same_identifier(session: Any, message: Message) -> Message:
    """Give all sequences of one outgoing queue one identifier."""
    first = TxSequenceID(1, session.OutgoingTxSequenceID.TimeStamp)
    return replace(message, TransactionalMessageSequenceIdentifier=first)


def _numbered(change: Callable[[Any, Message], Message]) -> Install:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda qm, session, message: change(session, original(qm, session, message))

    return procedure(TransactionalSending.number_in_sequence, make)


def _ordinal_three(session: Any, message: Message) -> Message:
    identifier = session.OutgoingTxSequenceID
    other = TxSequenceID(identifier.Ordinal + 2, identifier.TimeStamp)
    return replace(message, TransactionalMessageSequenceIdentifier=other)


for _name, _rules, _says, _install in (
    (
        "same-sequence-again",
        ("02",),
        "All sequences to one queue have the same identifier.",
        _numbered(_same_identifier),
    ),
    ("ordinal-three", ("03",), "The first sequence of a session has Ordinal 3.", _numbered(_ordinal_three)),
    ("other-sequence", ("04",), "A restart begins another sequence.", _outgoing(_other_outgoing_identifier)),
    ("number-again", ("06",), "A restart sets OutgoingTxSequenceNumber to 1.", _outgoing(_first_number_again)),
    ("rejections-forgotten", ("05",), "A restart forgets how many messages were rejected.", _incoming(_no_rejections)),
    (
        "not-from-zero",
        ("07",),
        "A first identifier with TimeStamp 0 is not accepted.",
        procedure(InSequence.is_in_sequence, _not_from_zero),
    ),
    ("incoming-identifier-forgotten", ("08",), "A restart forgets IncomingTxSequenceID.", _incoming(_no_identifier)),
    ("incoming-number-forgotten", ("09",), "A restart forgets IncomingTxSequenceNumber.", _incoming(_no_number)),
    (
        "from-any-number",
        ("09",),
        "A first sequence may begin with any number.",
        procedure(InSequence.is_in_sequence, _from_any_number),
    ),
):
    add(f"start-{_name}", [f"{SESSION}-{_each}" for _each in _rules], _says, _install)
