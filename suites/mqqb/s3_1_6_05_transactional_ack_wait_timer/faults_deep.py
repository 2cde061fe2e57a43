"""Faults of MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.transfer.transactional_sending import TransactionalSending, outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("sender-resends-first-unacknowledged-message-only", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsFirstUnacknowledgedMessageOnly(TransactionalSending):
    """When the Transactional Ack Wait Timer expires, the sender resends only the first transactional message that no
    OrderAck has acknowledged.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        later = [one for one in session.OutgoingMessageTable if one.TxSequenceNumber and not one.ReceivedOrderAck][1:]
        for position in later:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in later:
            position.ReceivedOrderAck = False


@fault("sender-resends-once-only", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderResendsOnceOnly(TransactionalSending):
    """The sender resends its transactional messages only at the first expiry of the Transactional Ack Wait Timer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: set[object] = set()

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        first = outgoing_sequence(session).UnackedSequence[:1]
        key = (session.number, *(one.SeqNo for one in first))
        if key in self.expired:
            self.start_ack_wait_timer(session, now)
            return
        self.expired.add(key)
        super().on_ack_wait_timer(session, now)


@fault("sender-large-message-not-sent-again", breaks="MQQB-3.1.6.5-01", blind=True)
class SenderLargeMessageNotSentAgain(TransactionalSending):
    """The sender does not send a transactional message with more than 4,000 bytes of body again when the Transactional
    Ack Wait Timer expires.
    """

    def on_ack_wait_timer(self, session: Session, now: Now) -> None:
        large = [
            one
            for one in session.OutgoingMessageTable
            if not one.ReceivedOrderAck and len(one.UserMessage.MessagePropertiesHeader.MessageBody) > 4000
        ]
        for position in large:
            position.ReceivedOrderAck = True
        super().on_ack_wait_timer(session, now)
        for position in large:
            position.ReceivedOrderAck = False
