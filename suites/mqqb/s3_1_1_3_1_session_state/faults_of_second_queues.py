"""Faults of MS-MQQB 3.1.1.3.1 Session State: elements of second queues, and of queues without waiting messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_address_resolving import (
    SessionAddressResolving,
    format_next_hop,
    is_ip_address_text,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import TransportAccepted

DAY_S = 86_400


def _restart_sequences_of_idle_queues(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        session = queue.session
        if not len(session.OutgoingMessageTable):
            session.OutgoingTxSequenceID = TxSequenceID(Ordinal=1, TimeStamp=session.OutgoingTxSequenceID.TimeStamp)


def _replace_identifiers_of_further_queues(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        old = queue.session.OutgoingTxSequenceID
        queue.session.OutgoingTxSequenceID = TxSequenceID(Ordinal=1, TimeStamp=old.TimeStamp + 1)


add(
    "sender-outgoing-sequence-of-idle-queue-lost-at-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, Ordinal of OutgoingTxSequenceID is 1 for a queue that had no message to send.",
    change_core_at_restart(_restart_sequences_of_idle_queues),
    blind=True,
)
add(
    "sender-outgoing-sequence-of-second-queue-lost-at-restart",
    "MQQB-3.1.1.3.1-04",
    "After a restart, each outgoing queue except the first has a new OutgoingTxSequenceID.",
    change_core_at_restart(_replace_identifiers_of_further_queues),
    blind=True,
)


def _forget_reject_counts_of_further_queues(qm: QueueManager) -> None:
    infos = [
        one
        for queue in qm.adm.QueueCollection.values()
        for one in queue.IncomingTransactionalTransferInfoCollection.values()
    ]
    for one in infos[1:]:
        one.RejectCount = 0


def _limit_shown_reject_counts(qm: QueueManager) -> None:
    for queue in qm.adm.QueueCollection.values():
        for one in queue.IncomingTransactionalTransferInfoCollection.values():
            one.RejectCount = min(one.RejectCount, 1)


add(
    "receiver-reject-count-of-second-sequence-lost-at-restart",
    "MQQB-3.1.1.3.1-05",
    "After a restart, TxMessageRejectCount is 0 for each incoming sequence except the first.",
    change_core_at_restart(_forget_reject_counts_of_further_queues),
    blind=True,
)
add(
    "receiver-reject-count-at-most-1-after-restart",
    "MQQB-3.1.1.3.1-05",
    "After a restart, TxMessageRejectCount is 1 if several messages were rejected.",
    change_core_at_restart(_limit_shown_reject_counts),
    blind=True,
)


@fault("sender-first-sequence-number-of-second-queue-is-2", breaks="MQQB-3.1.1.3.1-06", blind=True)
class SenderFirstSequenceNumberOfSecondQueueIs2(DestinationResolving):
    """OutgoingTxSequenceNumber is initially 2 for each outgoing queue except the first."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        known, count = text.lower() in self.qm.adm.OutgoingQueues, len(self.qm.adm.OutgoingQueues)
        queue = super().open_outgoing_queue(text, now)
        if not known and count:
            queue.session.OutgoingTxSequenceNumber = 2
        return queue


def _lower_sequence_numbers_of_acknowledged_queues(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        session = queue.session
        count = sum(bool(one.TxSequenceNumber) for one in session.OutgoingMessageTable)
        session.OutgoingTxSequenceNumber = count + 1


add(
    "sender-next-number-after-restart-counts-waiting-messages",
    "MQQB-3.1.1.3.1-06",
    "After a restart, OutgoingTxSequenceNumber is the number of waiting messages plus 1.",
    change_core_at_restart(_lower_sequence_numbers_of_acknowledged_queues),
    blind=True,
)


@fault("receiver-initial-sequence-id-has-time-stamp-of-yesterday", breaks="MQQB-3.1.1.3.1-07", blind=True)
class ReceiverInitialSequenceIdHasTimeStampOfYesterday(TransactionalReceiving):
    """The initial IncomingTxSequenceID has a TimeStamp of 24 hours ago instead of 0, so the receiver refuses a first
    sequence that is older.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        initial = int(session.IncomingTxSequenceID) == 0
        return super().is_in_sequence(session, packet) and not (
            initial and header.TxSequenceID.TimeStamp < packet.UserHeader.SentTime - DAY_S
        )


@fault("acceptor-remote-address-with-port", breaks="MQQB-3.1.1.3.1-11", blind=True)
class AcceptorRemoteAddressWithPort(SessionOpening):
    """RemoteQMAddress of an accepted session contains the port of the initiator."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        known = set(self.qm.sessions)
        super().accept_transport(event, now)
        for number in set(self.qm.sessions) - known:
            self.qm.sessions[number].RemoteQMAddress = f"{event.remote.host}:{event.remote.port}"


@fault("initiator-remote-address-in-form-of-next-hops", breaks="MQQB-3.1.1.3.1-11", blind=True)
class InitiatorRemoteAddressInFormOfNextHops(SessionAddressResolving):
    """On a session that the initiator opens, RemoteQMAddress has the notation of NextHops, with a prefix such as IP=
    before the address.
    """

    def connect_to_resolved_addresses(self, session: Session, now: Now) -> None:
        super().connect_to_resolved_addresses(session, now)
        if is_ip_address_text(session.RemoteQMAddress):
            session.RemoteQMAddress = format_next_hop(session.RemoteQMAddress)


def _renumber_waiting_messages(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        waiting = [one for one in queue.session.OutgoingMessageTable if one.TxSequenceNumber]
        for number, position in enumerate(waiting, 1):
            position.TxSequenceNumber = number
            header = position.UserMessage.TransactionHeader
            if header is not None:
                changed = replace(header, TxSequenceNumber=number, PreviousTxSequenceNumber=number - 1)
                position.UserMessage = replace(position.UserMessage, TransactionHeader=changed)


def _shift_sequence_numbers_of_further_queues(qm: QueueManager) -> None:
    for queue in list(qm.adm.OutgoingQueues.values())[1:]:
        for position in queue.session.OutgoingMessageTable:
            header = position.UserMessage.TransactionHeader
            if header is not None and position.TxSequenceNumber:
                position.TxSequenceNumber += 1
                changed = replace(header, TxSequenceNumber=position.TxSequenceNumber)
                position.UserMessage = replace(position.UserMessage, TransactionHeader=changed)
        queue.session.OutgoingTxSequenceNumber += 1


add(
    "sender-waiting-messages-numbered-from-1-after-restart",
    "MQQB-3.1.1.3.1.2-01",
    "After a restart, the sender numbers the waiting messages of a sequence from 1, although earlier messages were "
    "acknowledged.",
    change_core_at_restart(_renumber_waiting_messages),
    blind=True,
)
add(
    "sender-numbers-of-second-queue-increased-at-restart",
    "MQQB-3.1.1.3.1.2-01",
    "After a restart, TxSequenceNumber of the waiting messages of each queue except the first is greater by 1.",
    change_core_at_restart(_shift_sequence_numbers_of_further_queues),
    blind=True,
)
