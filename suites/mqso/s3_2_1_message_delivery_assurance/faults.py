"""Faults of MS-MQSO 3.2.1 Message Delivery Assurance."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Queue, Session
from reference_qm.surface.clock import Now


@fault("transactional-queue-accepts-nontransactional", breaks="MQSO-3.2.1-01")
class TransactionalQueueAcceptsNontransactional(Admission):
    """A transactional queue accepts a message outside a transaction."""

    def check_nontransactional_queue(
        self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now
    ) -> Outcome:
        return packet


@fault("repeated-transactional-message-stored-twice", breaks="MQSO-3.2.1-D03")
class RepeatedTransactionalMessageStoredTwice(InSequence):
    """The receiver stores a transactional message a second time."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        return True
