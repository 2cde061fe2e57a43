"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, MessageClass, MessageIdentifier, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import MessagePosition, Session
from reference_qm.surface.clock import Now


@fault("receiver-final-ack-of-expired-message-source-guid-own", breaks="MQQB-3.1.7.17-D06", blind=True)
class ReceiverFinalAckOfExpiredMessageSourceGuidOwn(FinalAcks):
    """The receiver sets SourceGUID in the FinalAck of a message that expired in its queue to its own Identifier."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT:
            own = MessageIdentifier(self.qm.adm.Identifier, message.Identifier.Ordinal)
            position.MessageReference = replace(message, Identifier=own)
        super().acknowledge_final(position, reason, now)
        position.MessageReference = message


@fault("receiver-final-ack-of-refused-packet-previous-number-computed", breaks="MQQB-3.1.7.17-D08", blind=True)
class ReceiverFinalAckOfRefusedPacketPreviousNumberComputed(FinalAcks):
    """The receiver sets TxPreviousSequenceNumber in the FinalAck of a refused packet to TxSequenceNumber minus one."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        header = replace(header, PreviousTxSequenceNumber=header.TxSequenceNumber - 1)
        super().refuse_transactional(session, replace(packet, TransactionHeader=header), message_class, now)


@fault("receiver-clears-direct-format-session-for-other-kind-of-name", breaks="MQQB-3.1.7.17-D11", blind=True)
class ReceiverClearsDirectFormatSessionForOtherKindOfName(Receiving):
    """The receiver clears DirectFormatSession when a message to a different kind of format name arrives."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        session.DirectFormatSession = isinstance(packet.UserHeader.DestinationQueue, DirectQueueFormatName)
