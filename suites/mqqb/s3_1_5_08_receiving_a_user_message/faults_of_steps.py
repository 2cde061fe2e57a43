"""Faults of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet: steps that are omitted or wrong for some messages only."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault, faulty_only_if
from reference_qm.codec import MessageClass, PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_arrival import MessageArrival
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import MessagePosition, Queue, Session
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x8000
U16_MASK = 0xFFFF


class SkippedSecurityCheckFault(SecurityOnReceipt):
    """Does not check the security of those messages that a subclass selects."""

    def is_security_check_skipped(self, packet: UserMessagePacket) -> bool:
        """Return whether the security of a message is not checked."""
        return False

    def check_security(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> UserMessagePacket | MessageClass:
        if self.is_security_check_skipped(packet):
            return packet
        return super().check_security(session, packet, queue, now)


@fault("receiver-security-of-transactional-message-not-checked", breaks="MQQB-3.1.5.8-05", blind=True)
class ReceiverSecurityOfTransactionalMessageNotChecked(SkippedSecurityCheckFault):
    """The receiver does not check the security of a transactional message."""

    def is_security_check_skipped(self, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault("receiver-security-of-message-to-private-name-not-checked", breaks="MQQB-3.1.5.8-05", blind=True)
class ReceiverSecurityOfMessageToPrivateNameNotChecked(SkippedSecurityCheckFault):
    """The receiver does not check the security of a message to a private format name."""

    def is_security_check_skipped(self, packet: UserMessagePacket) -> bool:
        return isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId)


@fault("receiver-security-of-later-message-not-checked", breaks="MQQB-3.1.5.8-05", blind=True)
class ReceiverSecurityOfLaterMessageNotChecked(SkippedSecurityCheckFault):
    """The receiver checks the security of the first message with a SecurityHeader only."""

    def is_security_check_skipped(self, packet: UserMessagePacket) -> bool:
        if packet.SecurityHeader is None:
            return False
        seen = self.__dict__.get("secured_before", False)
        self.__dict__["secured_before"] = True
        return bool(seen)


@fault("receiver-security-error-reported-before-missing-queue", breaks="MQQB-3.1.5.8-05", blind=True)
class ReceiverSecurityErrorReportedBeforeMissingQueue(MessageAdmission):
    """The receiver reports an invalid signature of a message although the destination queue does not exist."""

    def check_destination(self, session: Session, packet: UserMessagePacket, queue: Queue | None, now: Now) -> Outcome:
        if packet.SecurityHeader is not None:
            try:
                self.qm.security_on_receipt.authenticate_packet(packet)
            except ReceivedMessageRefused as refused:
                return refused.message_class
        return super().check_destination(session, packet, queue, now)


@fault("receiver-sequence-numbers-compared-by-low-16-bits", breaks="MQQB-3.1.5.8-08", blind=True)
class ReceiverSequenceNumbersComparedByLow16Bits(TransactionalReceiving):
    """The receiver compares only the low 16 bits of sequence numbers."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None  # only transactional messages are in a sequence
        low = replace(
            header,
            TxSequenceNumber=header.TxSequenceNumber & U16_MASK,
            PreviousTxSequenceNumber=header.PreviousTxSequenceNumber & U16_MASK,
        )
        return super().is_in_sequence(session, replace(packet, TransactionHeader=low))


@fault("receiver-transactional-order-not-checked-while-session-is-open", breaks="MQQB-3.1.5.8-08", blind=True)
class ReceiverTransactionalOrderNotCheckedWhileSessionIsOpen(TransactionalReceiving):
    """The receiver accepts a transactional message in any order while another session is open."""

    @faulty_only_if(lambda self, session, packet: bool(list_open_sessions(self.qm, session)))
    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return True


@fault("receiver-message-behind-gap-with-previous-number-0-accepted", breaks="MQQB-3.1.5.8-08", blind=True)
class ReceiverMessageBehindGapWithPreviousNumber0Accepted(TransactionalReceiving):
    """The receiver accepts a message of a known or older sequence in any order if PreviousTxSequenceNumber is 0."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None  # only transactional messages are in a sequence
        return header.PreviousTxSequenceNumber == 0 or super().is_in_sequence(session, packet)


class ArrivedMessageDropFault(MessageArrival):
    """Removes those arriving messages from their queues that a subclass selects."""

    def is_message_dropped(self, position: MessagePosition) -> bool:
        """Return whether a message is removed."""
        return False

    def message_arrived(self, position: MessagePosition, now: Now) -> None:
        if self.is_message_dropped(position):
            position.QueueReference.MessagePositionList.remove(position)
        else:
            super().message_arrived(position, now)


@fault("receiver-message-of-priority-0-not-stored", breaks="MQQB-3.1.5.8-10", blind=True)
class ReceiverMessageOfPriority0NotStored(ArrivedMessageDropFault):
    """The receiver does not put a message of priority 0 into its queue."""

    def is_message_dropped(self, position: MessagePosition) -> bool:
        return position.MessageReference.Priority == 0 and position.MessageReference.TransactionIdentifier is None


@fault("receiver-large-message-not-stored", breaks="MQQB-3.1.5.8-10", blind=True)
class ReceiverLargeMessageNotStored(ArrivedMessageDropFault):
    """The receiver does not put a message with a body of more than 32,768 bytes into its queue."""

    def is_message_dropped(self, position: MessagePosition) -> bool:
        return len(position.MessageReference.Body) > LARGE_BODY_BYTES


@fault("receiver-acknowledgment-class-not-stored", breaks="MQQB-3.1.5.8-10", blind=True)
class ReceiverAcknowledgmentClassNotStored(ArrivedMessageDropFault):
    """The receiver does not put a message whose class is not Normal into its queue."""

    def is_message_dropped(self, position: MessagePosition) -> bool:
        return position.MessageReference.Class != MessageClass.MQMSG_CLASS_NORMAL
