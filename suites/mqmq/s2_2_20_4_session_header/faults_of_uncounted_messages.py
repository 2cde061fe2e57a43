"""Faults of messages that a queue manager does not count on their session: MQMQ-2.2.20.4-02."""

from __future__ import annotations

from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import Session


@fault("receiver-message-for-missing-queue-not-counted", breaks="MQMQ-2.2.20.4-02")
class ReceiverMessageForMissingQueueNotCounted(MessageReceiving):
    """The receiver does not count a message whose destination queue does not exist."""

    @faulty_only_if(
        lambda self, session, packet: (
            self.is_for_this_queue_manager(packet) and self.qm.message_arrival.find_destination(packet) is None
        )
    )
    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        pass


@fault("receiver-message-to-be-routed-not-counted", breaks="MQMQ-2.2.20.4-02")
class ReceiverMessageToBeRoutedNotCounted(MessageReceiving):
    """The receiver does not count a message for another queue manager."""

    @faulty_only_if(lambda self, session, packet: not self.is_for_this_queue_manager(packet))
    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        pass


@fault("receiver-later-transactional-message-not-counted", breaks="MQMQ-2.2.20.4-02")
class ReceiverLaterTransactionalMessageNotCounted(MessageReceiving):
    """The receiver does not count a transactional message with a PreviousTxSequenceNumber above 0."""

    @faulty_only_if(
        lambda self, session, packet: (
            packet.TransactionHeader is not None and packet.TransactionHeader.PreviousTxSequenceNumber
        )
    )
    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        pass
