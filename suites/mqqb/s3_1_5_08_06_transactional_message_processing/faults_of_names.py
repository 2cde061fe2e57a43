"""Faults of MS-MQQB 3.1.5.8.6 Transactional Message Processing for some kinds of format names only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import NO_INCOMING_SEQUENCE, Session


def is_sent_to_private_name(packet: UserMessagePacket) -> bool:
    """Return whether the destination of a message is a private format name."""
    return isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId)


@fault("receiver-repeated-message-to-private-name-accepted", breaks="MQQB-3.1.5.8.6-D01", blind=True)
class ReceiverRepeatedMessageToPrivateNameAccepted(TransactionalReceiving):
    """The receiver accepts the last message of a sequence to a private format name again."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None  # only transactional messages are in a sequence
        last = header.TxSequenceID, header.TxSequenceNumber
        repeated = last == (session.IncomingTxSequenceID, session.IncomingTxSequenceNumber)
        return (is_sent_to_private_name(packet) and repeated) or super().is_in_sequence(session, packet)


@fault("receiver-new-sequence-to-private-name-refused", breaks="MQQB-3.1.5.8.6-D01", blind=True)
class ReceiverNewSequenceToPrivateNameRefused(TransactionalReceiving):
    """The receiver refuses a newer sequence to a private format name."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None  # only transactional messages are in a sequence
        known = session.IncomingTxSequenceID not in (NO_INCOMING_SEQUENCE, header.TxSequenceID)
        return not (is_sent_to_private_name(packet) and known) and super().is_in_sequence(session, packet)
