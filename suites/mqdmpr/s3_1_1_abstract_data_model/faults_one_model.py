"""Faults that break rules of MS-MQDMPR 3.1.1 Abstract Data Model for one packet, protocol, destination or move."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import EstablishConnectionPacket, MessageClass, PingPacket, UserMessagePacket, parse_packet
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queueing.queue_opening import OpenQueueResult
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, Queue, Session
from reference_qm.model.position_list import MessagePositionList
from reference_qm.model.transactions import OperationType, Transaction
from reference_qm.rpc.calls import Call
from reference_qm.surface.clock import Now


@fault("queue-manager-second-request-client-guid-differs-from-identifier", breaks="MQDMPR-3.1.1-06", blind=True)
class QueueManagerSecondRequestClientGuidDiffersFromIdentifier(SessionEstablishing):
    """ClientGuid of an EstablishConnection request is not the Identifier of the queue manager, if the queue manager
    has another outgoing queue.
    """

    def build_establish_request(self, session: Session, now: Now) -> EstablishConnectionPacket:
        packet = super().build_establish_request(session, now)
        if len(self.qm.adm.OutgoingQueues) < 2:
            return packet
        wrong = UUID(int=self.qm.adm.Identifier.int ^ 1)
        return set_fields(packet, {"EstablishConnectionHeader.ClientGuid": wrong})


@fault("queue-manager-response-server-guid-differs-from-identifier", breaks="MQDMPR-3.1.1-06", blind=True)
class QueueManagerResponseServerGuidDiffersFromIdentifier(SessionOpening):
    """ServerGuid of an EstablishConnection response is not the Identifier of the queue manager if the request has no
    ServerGuid.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if request.EstablishConnectionHeader.ServerGuid.int:
            return packet
        wrong = UUID(int=self.qm.adm.Identifier.int ^ 1)
        return set_fields(packet, {"EstablishConnectionHeader.ServerGuid": wrong})


class _EmptyQueueForRemoteReadersSubstituter(QmcommMethods):
    """Give remote readers an empty queue of their own in place of some queues; a subclass selects which."""

    def is_hidden_from_remote_readers(self, queue: Queue) -> bool:
        """Return whether remote readers do not see the messages of a queue."""
        return False

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        status, descriptor = super().open_remote_queue(call, now)
        if descriptor is not None and descriptor.QueueReference is not None:
            queue = descriptor.QueueReference
            if self.is_hidden_from_remote_readers(queue):
                del queue.OpenQueueDescriptorCollection[descriptor.Handle]
                apart = Queue(Pathname=queue.Pathname, MessagePositionList=MessagePositionList(self.qm.adm.storage))
                descriptor.QueueReference = apart
                apart.OpenQueueDescriptorCollection[descriptor.Handle] = descriptor
        return status, descriptor


@fault("queue-manager-subqueue-empty-for-remote-readers", breaks="MQDMPR-3.1.1-07", blind=True)
class QueueManagerSubqueueEmptyForRemoteReaders(_EmptyQueueForRemoteReadersSubstituter):
    """Remote readers do not see the messages that local applications moved into a subqueue."""

    def is_hidden_from_remote_readers(self, queue: Queue) -> bool:
        return queue.parent is not None and queue.parent.JournalQueueReference is not queue


@fault("queue-manager-journal-empty-for-remote-readers", breaks="MQDMPR-3.1.1-07", blind=True)
class QueueManagerJournalEmptyForRemoteReaders(_EmptyQueueForRemoteReadersSubstituter):
    """Remote readers do not see the messages in the journal of a queue."""

    def is_hidden_from_remote_readers(self, queue: Queue) -> bool:
        return queue.parent is not None and queue.parent.JournalQueueReference is queue


@fault("queue-manager-transactional-queue-empty-for-remote-readers", breaks="MQDMPR-3.1.1-07", blind=True)
class QueueManagerTransactionalQueueEmptyForRemoteReaders(_EmptyQueueForRemoteReadersSubstituter):
    """Remote readers do not see the messages of a transactional queue."""

    def is_hidden_from_remote_readers(self, queue: Queue) -> bool:
        return queue.Transactional


class _DestinationChangerOfRestoredMessages(StateRestoring):
    """Send some restored messages to the destination of the first restored message; a subclass selects which."""

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        """Return whether the queue manager sends a restored message to another destination."""
        return False

    def _restore_message(self, key_suffix: str, value: dict[str, Any]) -> None:
        if value["in"].startswith("outgoing:"):
            packet = parse_packet(b64decode(value["packet"]))
            assert isinstance(packet, UserMessagePacket)
            self.first = getattr(self, "first", packet.UserHeader.DestinationQueue)
            if self.is_misdirected(packet):
                wrong = {"BaseHeader.PacketSize": 0, "UserHeader.DestinationQueue": self.first}
                value = {**value, "packet": b64encode(set_fields(packet, wrong).build()).decode()}
        super()._restore_message(key_suffix, value)


@fault("queue-manager-restored-messages-sent-to-first-destination", breaks="MQDMPR-3.1.1.3-D01", blind=True)
class QueueManagerRestoredMessagesSentToFirstDestination(_DestinationChangerOfRestoredMessages):
    """After a restart the queue manager sends all waiting messages to the destination of the first waiting message."""

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        return True


@fault("queue-manager-restored-large-message-sent-to-first-destination", breaks="MQDMPR-3.1.1.3-D01", blind=True)
class QueueManagerRestoredLargeMessageSentToFirstDestination(_DestinationChangerOfRestoredMessages):
    """After a restart the queue manager sends a waiting message with a body of more than 4,000 bytes to the destination
    of the first waiting message.
    """

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        return len(packet.MessagePropertiesHeader.MessageBody) > 4_000


class _MoveOperationTypeChanger(TransactionOperations):
    """Record some moves as operations of a wrong type; a subclass selects which."""

    def find_wrong_operation_type(self, position: MessagePosition, target: Queue) -> OperationType | None:
        """Return the wrong type of the operation, or None."""
        return None

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        wrong = self.find_wrong_operation_type(position, target)
        if wrong is not None:
            transaction.TransactionalOperationCollection[-1].OperationType = wrong


@fault("transaction-move-from-subqueue-recorded-as-enqueue", breaks="MQDMPR-3.1.1.13-05", blind=True)
class TransactionMoveFromSubqueueRecordedAsEnqueue(_MoveOperationTypeChanger):
    """The queue manager records a move from a subqueue to its queue as an operation of type Enqueue."""

    def find_wrong_operation_type(self, position: MessagePosition, target: Queue) -> OperationType | None:
        return OperationType.ENQUEUE if target.parent is None else None


@fault("transaction-move-between-subqueues-recorded-as-dequeue", breaks="MQDMPR-3.1.1.13-05", blind=True)
class TransactionMoveBetweenSubqueuesRecordedAsDequeue(_MoveOperationTypeChanger):
    """The queue manager records a move from a subqueue to another subqueue as an operation of type Dequeue."""

    def find_wrong_operation_type(self, position: MessagePosition, target: Queue) -> OperationType | None:
        from_subqueue = position.QueueReference.parent is not None
        return OperationType.DEQUEUE if from_subqueue and target.parent is not None else None


@fault("coordinated-transaction-move-recorded-as-dequeue", breaks="MQDMPR-3.1.1.13-05", blind=True)
class CoordinatedTransactionMoveRecordedAsDequeue(_MoveOperationTypeChanger):
    """The queue manager records a move in a transaction of an external coordinator as an operation of type Dequeue."""

    def move_in_transaction(self, transaction: Transaction, position: MessagePosition, target: Queue) -> None:
        super().move_in_transaction(transaction, position, target)
        if not transaction.SinglePhase:
            transaction.TransactionalOperationCollection[-1].OperationType = OperationType.DEQUEUE


@fault("queue-manager-restored-transactional-message-sent-to-first-destination", breaks="MQDMPR-3.1.1.3-D01")
class QueueManagerRestoredTransactionalMessageSentToFirstDestination(_DestinationChangerOfRestoredMessages):
    """After a restart the queue manager sends a waiting transactional message to the destination of the first waiting
    message.
    """

    def is_misdirected(self, packet: UserMessagePacket) -> bool:
        return bool(packet.UserHeader.TH)


@fault("queue-manager-ping-response-guid-differs-from-identifier", breaks="MQDMPR-3.1.1-06")
class QueueManagerPingResponseGuidDiffersFromIdentifier(PingHandling):
    """QMGuid of a Ping Response is not the Identifier of the queue manager."""

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(super().build_response(request), QMGuid=UUID(int=self.qm.adm.Identifier.int ^ 1))


@fault("queue-manager-acknowledgment-has-other-source-queue-manager", breaks="MQDMPR-3.1.1-06")
class QueueManagerAcknowledgmentHasOtherSourceQueueManager(MessageSending):
    """SourceQueueManager of an acknowledgment is not the Identifier of the queue manager."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        if packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NORMAL:
            return packet
        return set_fields(packet, {"UserHeader.SourceQueueManager": UUID(int=self.qm.adm.Identifier.int ^ 1)})
