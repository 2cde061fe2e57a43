"""Faults that break rules of MS-MQMQ 2.2.18.1 packet data types, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import TxSequenceID, UserMessagePacket
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import NO_INCOMING_SEQUENCE, Session

TIME_STAMP_SIGN_BIT = 1 << 31


def _build_comparison_key_with_signed_time_stamp(identifier: TxSequenceID) -> tuple[int, int]:
    return (identifier.TimeStamp & ~TIME_STAMP_SIGN_BIT) - (
        identifier.TimeStamp & TIME_STAMP_SIGN_BIT
    ), identifier.Ordinal


@fault("receiver-tx-sequence-id-time-stamp-compared-as-signed-number", breaks="MQMQ-2.2.18.1.2-D02", blind=True)
class ReceiverTxSequenceIdTimeStampComparedAsSignedNumber(TransactionalReceiving):
    """The receiver compares the TimeStamps of two TxSequenceIDs as signed numbers, so that a TimeStamp from
    0x80000000 on counts as earlier than a smaller TimeStamp.
    """

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header, last = packet.TransactionHeader, session.IncomingTxSequenceID
        if header is None or last in (NO_INCOMING_SEQUENCE, header.TxSequenceID):
            return super().is_in_sequence(session, packet)
        return (
            _build_comparison_key_with_signed_time_stamp(header.TxSequenceID)
            > _build_comparison_key_with_signed_time_stamp(last)
            and header.PreviousTxSequenceNumber == 0
        )
