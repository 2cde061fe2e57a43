"""Faults of MS-MQQB 3.1.1.3.1 Session State."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import always, at_restart, set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.establishing import Establishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import NO_INCOMING, IncomingTransactionalTransferInfo, OutgoingQueue, Session
from reference_qm.model.message import Message
from reference_qm.model.states import SessionState
from reference_qm.model.tables import OutgoingMessageTable
from reference_qm.surface.clock import Now

MINUTE_S = 60
_NO_ADDRESS = "the peer"


@fault("session-counts-shared", breaks="MQQB-3.1.1.3.1-01")
class CountsShared(Receiving):
    """All sessions count together."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        for other in self.qm.sessions.values():
            other.MessageReceivedCount = session.MessageReceivedCount


def _no_remote_address(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.RemoteQMAddress = _NO_ADDRESS


def _no_hop_address(qm: QueueManager) -> None:
    for session in qm.sessions.values():
        session.NextHopCollection = [replace(hop, Address=_NO_ADDRESS) for hop in session.NextHopCollection]


add("session-no-remote-address", "MQQB-3.1.1.3.1-11", "RemoteQMAddress is a name.", always(_no_remote_address))
add("session-no-hop-address", "MQQB-3.1.1.3.1.3-01", "Next hops have a name for an address.", always(_no_hop_address))


# -- the identifiers and numbers of sequences ----------------------------------------------------------------------


@fault("start-same-sequence-again", breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57"))
class SameSequenceAgain(TransactionalSending):
    """All sequences to one queue have the same identifier."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        first = TxSequenceID(1, session.OutgoingTxSequenceID.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=first)


@fault("start-ordinal-three", breaks="MQQB-3.1.1.3.1-03")
class OrdinalThree(TransactionalSending):
    """The first sequence of a session has Ordinal 3."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        identifier = session.OutgoingTxSequenceID
        other = TxSequenceID(identifier.Ordinal + 2, identifier.TimeStamp)
        return replace(numbered, TransactionalMessageSequenceIdentifier=other)


@fault("start-not-from-zero", breaks="MQQB-3.1.1.3.1-07")
class NotFromZero(InSequence):
    """A first identifier with TimeStamp 0 is not accepted."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        first = session.IncomingTxSequenceID == NO_INCOMING
        if first and header is not None and not header.TxSequenceID.TimeStamp:
            return False
        return super().is_in_sequence(session, packet)


@fault("start-from-any-number", breaks="MQQB-3.1.1.3.1-09")
class FromAnyNumber(InSequence):
    """A first sequence may begin with any number."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return session.IncomingTxSequenceID == NO_INCOMING or super().is_in_sequence(session, packet)


# -- what a restart keeps ------------------------------------------------------------------------------------------


def _incoming(change: Callable[[IncomingTransactionalTransferInfo], None]) -> Install:
    """Spoil all that is known of incoming sequences at a restart."""

    def spoil(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            for transfer in queue.IncomingTransactionalTransferInfoCollection.values():
                change(transfer)

    return at_restart(spoil)


def _no_identifier(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceIdentifier = NO_INCOMING


def _no_number(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.SequenceNumber = 0


def _no_rejections(transfer: IncomingTransactionalTransferInfo) -> None:
    transfer.RejectCount = 0


def _outgoing(change: Callable[[OutgoingQueue], None]) -> Install:
    """Spoil all outgoing queues at a restart."""

    def spoil(qm: QueueManager) -> None:
        for queue in qm.adm.OutgoingQueues.values():
            change(queue)

    return at_restart(spoil)


def _next_sequence(queue: OutgoingQueue) -> None:
    identifier = queue.session.OutgoingTxSequenceID
    queue.session.OutgoingTxSequenceID = TxSequenceID(identifier.Ordinal + 1, identifier.TimeStamp)


def _first_number_again(queue: OutgoingQueue) -> None:
    queue.session.OutgoingTxSequenceNumber = 1


def _other_reference(queue: OutgoingQueue) -> None:
    """Let the session refer to an OutgoingQueue of another name for the same destination."""
    assert queue.session.OutgoingQueueReference is queue
    other = OutgoingQueue(Pathname=queue.Pathname, DestinationFormatName=f"{queue.DestinationFormatName}-other")
    other.session = queue.session
    queue.session.OutgoingQueueReference = other


def _nothing_kept(queue: OutgoingQueue) -> None:
    queue.session.OutgoingMessageTable = OutgoingMessageTable()


def _no_acknowledgments_kept(queue: OutgoingQueue) -> None:
    for position in queue.session.OutgoingMessageTable:
        if position.MessagePosition.MessageReference.Class:
            queue.session.OutgoingMessageTable.remove(position)


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


def _nothing_prepared(qm: QueueManager) -> None:
    for transaction in qm.adm.TransactionCollection.values():
        transaction.TransactionalOperationCollection.clear()


def _no_awaiting(queue: OutgoingQueue) -> None:
    queue.session.AwaitingFinalACKTable.clear()


add(
    "start-other-sequence",
    "MQQB-3.1.1.3.1-04",
    "A restart begins another sequence.",
    _outgoing(_next_sequence),
)
add(
    "start-rejections-forgotten",
    "MQQB-3.1.1.3.1-05",
    "A restart forgets how many messages were rejected.",
    _incoming(_no_rejections),
)
add(
    "start-number-again",
    "MQQB-3.1.1.3.1-06",
    "A restart sets OutgoingTxSequenceNumber to 1.",
    _outgoing(_first_number_again),
)
add(
    "start-incoming-identifier-forgotten",
    "MQQB-3.1.1.3.1-08",
    "A restart forgets IncomingTxSequenceID.",
    _incoming(_no_identifier),
)
add(
    "start-incoming-number-forgotten",
    "MQQB-3.1.1.3.1-09",
    "A restart forgets IncomingTxSequenceNumber.",
    _incoming(_no_number),
)
add(
    "session-other-reference",
    "MQQB-3.1.1.3.1-10",
    "A restart lets a session refer to another outgoing queue.",
    _outgoing(_other_reference),
)
add(
    "session-acknowledgments-lost",
    "MQQB-3.1.1.3.1-12",
    "A restart forgets the acknowledgments that wait to be sent.",
    _outgoing(_no_acknowledgments_kept),
)
add(
    "session-table-lost",
    ("MQQB-3.1.1.3.1-12", "MQQB-3.1.1.3.2-01", "MQQB-3.1.1.3.2-02", "MQDMPR-3.1.1.3-D01"),
    "A restart loses all.",
    _outgoing(_nothing_kept),
)
add(
    "session-prepared-lost",
    "MQQB-3.1.1.3.1-12",
    "A restart forgets what prepared transactions are about.",
    at_restart(_nothing_prepared),
)
add(
    "session-table-turned",
    "MQQB-3.1.1.3.1-12",
    "A restart turns the order round.",
    _outgoing(_other_way_round),
)
add(
    "session-numbers-anew",
    "MQQB-3.1.1.3.1.2-01",
    "A restart numbers messages anew.",
    _outgoing(_numbered_anew),
)
add(
    "awaiting-final-acks-forgotten",
    "MQQB-3.1.1.3.1-13",
    "A restart forgets the messages that await their FinalAck.",
    _outgoing(_no_awaiting),
)


@fault("messages-backwards-after-session-retry", breaks="MQQB-3.1.1.3.1-D01")
class BackwardsAfterRetry(Establishing):
    """The table is turned round when the session is tried again."""

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        table = session.OutgoingMessageTable
        if session.SessionState is SessionState.WAITING_RECONNECT:
            positions = list(table)
            for position in positions:
                table.remove(position)
            for position in reversed(positions):
                table.add(position)
                table.dispatch(position)
        super().on_session_retry_connect_timer(session, now)


@fault("sequences-by-the-clock", breaks="MQQB-3.1.1.3.1-03")
class SequencesByTheClock(Destinations):
    """A first sequence has the time for a TimeStamp; that the clock was set back is not looked at."""

    def open_outgoing(self, name: str, now: Now) -> OutgoingQueue:
        if now.utc_s < self.qm.adm.last_sequence_time - MINUTE_S:  # so many sequences have not begun since
            self.qm.adm.last_sequence_time = 0
        return super().open_outgoing(name, now)


@fault("sequences-of-one-second-alike", breaks=("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03"))
class SequencesOfOneSecondAlike(Destinations):
    """A first sequence has the time for a TimeStamp, whatever began in the same second."""

    def open_outgoing(self, name: str, now: Now) -> OutgoingQueue:
        self.qm.adm.last_sequence_time = 0
        return super().open_outgoing(name, now)


@fault("two-sessions-of-one-address-share-their-counts", breaks="MQQB-3.1.1.3.1-01", blind=True)
class TwoSessionsOfOneAddressShareTheirCounts(Receiving):
    """A message counts on every session with the address that it came from."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        for one in self.qm.sessions.values():
            if one.RemoteQMAddress == session.RemoteQMAddress and one.SessionState is SessionState.OPEN:
                super().count_received(one, packet)


@fault("recoverable-first-on-the-next-session", breaks="MQQB-3.1.1.3.1-D01", blind=True)
class RecoverableFirstOnTheNextSession(SessionInitialization):
    """On the next session recoverable messages are sent before express ones."""

    def initialize_messages(self, session: Session) -> None:
        table = session.OutgoingMessageTable
        for position in sorted(table, key=lambda one: not one.recoverable):
            table.remove(position)
            table.add(position)
        super().initialize_messages(session)
