"""Faults of MS-MQQB 3.1.5.6 Receiving an OrderAck Packet that need two sessions."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from suites.mqqb.steps.other_sessions import list_open_sessions


@fault("sender-order-ack-acknowledges-sequences-of-all-destinations", breaks=("MQQB-3.1.5.6-09", "MQQB-3.1.6.5-01"))
class SenderOrderAckAcknowledgesSequencesOfAllDestinations(OrderAcks):
    """An OrderAck acknowledges the messages with the same numbers in the sequences of all destinations."""

    def note(self, session: Session, body: OrderAckBody, now: Now) -> None:
        super().note(session, body, now)
        for other in list_open_sessions(self.qm, session):
            if other.TxOutgoingSequence is not None:
                own = replace(body, TxSequenceID=other.OutgoingTxSequenceID)
                super().note(other, own, now)
                self.delete_order_acknowledged(other, own)


@fault("sender-order-ack-applied-to-newest-session", breaks="MQQB-3.1.5.6-13")
class SenderOrderAckAppliedToNewestSession(OrderAcks):
    """The sender applies every OrderAck to the sequence of its newest session instead of the sequence that is named."""

    def receive(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        newest = list(self.qm.adm.OutgoingQueues.values())[-1].session
        body = OrderAckBody.parse(packet.MessagePropertiesHeader.MessageBody)
        self.note(newest, replace(body, TxSequenceID=newest.OutgoingTxSequenceID), now)
        self.delete_order_acknowledged(newest, body)
