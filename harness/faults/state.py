"""Faults of what a queue manager keeps, and of what survives of it. Spec: MS-MQQB 3.1.1.3, 3.1.1.3.1, 3.1.2, 3.1.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, always, beforehand, procedure, set_fields, skip
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, MessageIdentifier, UserMessagePacket
from reference_qm.core.protocol.administering import Administering
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.ping import Ping
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessageIDHistoryEntry, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.tables import MessageIDHistoryTable, OutgoingMessageTable
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

Original = Callable[..., Any]
STATE, SESSION, KEPT = "MQQB-3.1.1.3", "MQQB-3.1.1.3.1", "MQQB-3.1.1.3.2"
NO_ADDRESS = "the peer"


def _at_restart(change: Callable[[QueueManager], None]) -> Install:
    return lambda faulty: faulty.on_restart.append(lambda core: change(core.core))


# -- 3.1.1.3 elements of the queue manager -------------------------------------------------------------------------


def _remember_nobody(qm: QueueManager, now: Now) -> None:
    qm.adm.MessageIDHistoryTable.insert(MessageIDHistoryEntry(MessageIdentifier(NULL_GUID, 1), now.utc_s))


def _forget_history(qm: QueueManager) -> None:
    qm.adm.MessageIDHistoryTable = MessageIDHistoryTable()


def _by_two(original: Original) -> Original:
    def assign(qm: QueueManager) -> int:
        original(qm)
        return int(original(qm))

    return assign


def _ordinals_again(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = 0


def _insecure(value: bool) -> Callable[[QueueManager], None]:
    def change(qm: QueueManager) -> None:
        qm.adm.SendInsecureNacks = value

    return change


for _name, _rule, _says, _install in (
    (
        "history-of-nobody",
        "21",
        "A start puts a message into the history.",
        afterwards(Initialization.initialize_globally, _remember_nobody),
    ),
    ("history-forgotten", "22", "A restart forgets the history.", _at_restart(_forget_history)),
    ("ordinals-by-two", "24", "Every other ordinal is left out.", procedure(Sending.assign_identifier, _by_two)),
    ("ordinals-again", "25", "A restart begins with the first ordinal again.", _at_restart(_ordinals_again)),
    (
        "one-cookie",
        "26",
        "All pings have one cookie.",
        beforehand(Ping.send_request, lambda qm, *_: setattr(qm.adm, "PingCookie", 6)),
    ),
    (
        "insecure-nacks-at-first",
        "27",
        "SendInsecureNacks is TRUE at first.",
        afterwards(Initialization.initialize_globally, lambda qm, now: _insecure(True)(qm)),
    ),
    ("insecure-nacks-forgotten", "27", "A restart forgets SendInsecureNacks.", _at_restart(_insecure(False))),
):
    add(f"state-{_name}", f"{STATE}-{_rule}", _says, _install)


# -- 3.1.1.3.1 elements of a session -------------------------------------------------------------------------------


def _count_in_all(qm: QueueManager, session: Session, packet: UserMessagePacket) -> None:
    for other in qm.sessions.values():
        other.MessageReceivedCount = session.MessageReceivedCount


def _on_outgoing(change: Callable[[OutgoingQueue], None]) -> Install:
    def spoil(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            change(queue)

    return _at_restart(spoil)


def _another_name(queue: OutgoingQueue) -> None:
    assert queue.session.OutgoingQueueReference is queue
    queue.session.OutgoingQueueReference = _other_queue(queue)


def _other_queue(queue: OutgoingQueue) -> OutgoingQueue:
    """Make another OutgoingQueue of the same session, for another name of the same destination."""
    other = OutgoingQueue(Pathname=queue.Pathname, DestinationFormatName=f"{queue.DestinationFormatName}-other")
    other.session = queue.session
    return other


def _no_address(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.RemoteQMAddress = NO_ADDRESS


def _no_hop_address(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.NextHopCollection = [replace(hop, Address=NO_ADDRESS) for hop in session.NextHopCollection]


def _nothing_kept(queue: OutgoingQueue) -> None:
    queue.session.OutgoingMessageTable = OutgoingMessageTable()


def _other_way_round(queue: OutgoingQueue) -> None:
    table = OutgoingMessageTable()
    for position in reversed(list(queue.session.OutgoingMessageTable)):
        table.add(position)
    queue.session.OutgoingMessageTable = table


def _numbered_anew(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.TxSequenceNumber:
            position.UserMessage = set_fields(
                position.UserMessage, {"TransactionHeader.TxSequenceNumber": position.TxSequenceNumber + 8}
            )


def _numbered_from(first: int, step: int) -> Install:
    """Number the messages of a session otherwise."""

    def change(qm: QueueManager, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        position.SequenceNumber = first + (position.SequenceNumber - 1) * step

    return afterwards(Sending.update_user_message, change)


for _name, _rules, _says, _install in (
    (
        "counts-shared",
        (f"{SESSION}-01",),
        "All sessions count together.",
        afterwards(Receiving.count_received, _count_in_all),
    ),
    (
        "other-reference",
        (f"{SESSION}-10",),
        "A restart lets a session refer to another outgoing queue.",
        _on_outgoing(_another_name),
    ),
    ("no-remote-address", (f"{SESSION}-11",), "RemoteQMAddress is a name.", always(_no_address)),
    ("table-lost", (f"{SESSION}-12", f"{KEPT}-01", f"{KEPT}-02"), "A restart loses all.", _on_outgoing(_nothing_kept)),
    ("table-turned", (f"{SESSION}-12",), "A restart turns the order round.", _on_outgoing(_other_way_round)),
    ("numbers-anew", ("MQQB-3.1.1.3.1.2-01",), "A restart numbers messages anew.", _on_outgoing(_numbered_anew)),
    ("no-hop-address", ("MQQB-3.1.1.3.1.3-01",), "Next hops have a name for an address.", always(_no_hop_address)),
    ("numbered-from-zero", ("MQQB-3.1.1.4-01",), "Messages are numbered from 0.", _numbered_from(0, 1)),
    ("numbered-by-two", ("MQQB-3.1.1.4-01",), "Messages have every other number.", _numbered_from(1, 2)),
):
    add(f"session-{_name}", _rules, _says, _install)


# -- 3.1.2, 3.1.4 timers, start ------------------------------------------------------------------------------------


def _duration(name: TimerName, change: Callable[[int], int]) -> Install:
    """Let a timer run for another time than that it is started with."""

    def make(original: Original) -> Original:
        def start(qm: QueueManager, session: Session, timer: TimerName, duration_ms: int, now: Now) -> None:
            original(qm, session, timer, change(duration_ms) if timer is name else duration_ms, now)

        return start

    return procedure(SessionTimers.start, make)


for _name, _rule, _says, _install in (
    (
        "initialization-of-its-own",
        "MQQB-3.1.2.1-01",
        "The Session Initialization Timer always runs for 45 s.",
        _duration(TimerName.SESSION_INITIALIZATION, lambda _: 45_000),
    ),
    (
        "cleanup-of-its-own",
        "MQQB-3.1.2.2-01",
        "The Session Cleanup Timer always runs for 40 s.",
        _duration(TimerName.SESSION_CLEANUP, lambda _: 40_000),
    ),
    (
        "ack-wait-no-multiple",
        "MQQB-3.1.2.4-01",
        "The Session Ack Wait Timer runs for a fifth longer than it has to.",
        _duration(TimerName.SESSION_ACK_WAIT, lambda old: old * 6 // 5),
    ),
):
    add(f"timer-{_name}", _rule, _says, _install)
add(
    "start-initializes-nothing",
    "MQQB-3.1.4.1-01",
    "A queue manager that starts does not initialize itself.",
    skip(Initialization.initialize_globally),
)
add(
    "start-connects-to-nobody",
    "MQQB-3.1.4.1-02",
    "A queue manager that starts leaves its messages where they are.",
    skip(Administering.establish_waiting),
)
