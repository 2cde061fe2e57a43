"""Faults of MS-MQQB 2.2.5 FinalAck Packet, with 2.2.5.1 that need two sessions."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, TransactionHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_first_headers: WeakKeyDictionary[QueueManager, TransactionHeader] = WeakKeyDictionary()
"""The TransactionHeader of the first message that each queue manager refused."""


class _HeaderOfFirst(FinalAcks):
    """Build FinalAcks of refused messages with fields of the first refused message."""

    fields: tuple[str, ...] = ()

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        first = _first_headers.setdefault(self.qm, header)
        changed = replace(header, **{name: getattr(first, name) for name in self.fields})
        super().refuse_transactional(session, replace(packet, TransactionHeader=changed), message_class, now)


@fault("receiver-final-ack-sequence-of-first-refused-message", breaks="MQQB-2.2.5.1-01")
class ReceiverFinalAckSequenceOfFirstRefusedMessage(_HeaderOfFirst):
    """TxSequenceID of the FinalAck of every refused message is that of the first refused message."""

    fields = ("TxSequenceID",)


@fault("receiver-final-ack-number-of-first-refused-message", breaks="MQQB-2.2.5.1-02")
class ReceiverFinalAckNumberOfFirstRefusedMessage(_HeaderOfFirst):
    """TxSequenceNumber of the FinalAck of every refused message is that of the first refused message."""

    fields = ("TxSequenceNumber",)


@fault("receiver-final-ack-of-second-source-missing", breaks="MQQB-2.2.5-14")
class ReceiverFinalAckOfSecondSourceMissing(FinalAcks):
    """The receiver sends FinalAcks only of refused messages of the sequence whose message it refused first."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        header = packet.TransactionHeader
        assert header is not None
        if _first_headers.setdefault(self.qm, header).TxSequenceID == header.TxSequenceID:
            super().refuse_transactional(session, packet, message_class, now)
