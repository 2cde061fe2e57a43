"""Faults that reproduce the bug that Microsoft article KB902951 describes."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import OrderAckBody, TxSequenceID, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import get_outgoing_sequence, stop_counting_as_unacknowledged
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("regression-902951-sequence-stuck-after-reconnect", breaks="REGRESSIONS-902951-01")
class Regression902951SequenceStuckAfterReconnect(TransactionalReceiving):
    """The receiver stores no message of a sequence after a reconnect, and repeats its old OrderAck."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.begun: dict[TxSequenceID, int] = {}

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        assert packet.TransactionHeader is not None
        begun = self.begun.setdefault(packet.TransactionHeader.TxSequenceID, session.number)
        return begun == session.number and super().is_in_sequence(session, packet)


def _discard_unacknowledged_messages(faulty: FaultyCore) -> None:
    """Lose the unacknowledged messages of a session on which an OrderAck was repeated, when the session ends."""
    came_again: set[int] = set()

    class RepeatedOrderAckRecorder(OrderAcks):
        def note_last_message_in_order(self, session: Session, body: OrderAckBody, now: Now) -> None:
            if body.TxSequenceNumber <= get_outgoing_sequence(session).LastAck.SeqNo:
                came_again.add(session.number)
            super().note_last_message_in_order(session, body, now)

    class UnacknowledgedMessageDiscarder(SessionClosing):
        def close(self, session: Session, reason: str, now: Now) -> None:
            super().close(session, reason, now)
            if session.number in came_again:
                for position in list(session.OutgoingMessageTable):
                    if position.TxSequenceNumber:
                        stop_counting_as_unacknowledged(session, position)
                        session.OutgoingMessageTable.remove(position)

    replace_part(RepeatedOrderAckRecorder)(faulty)
    replace_part(UnacknowledgedMessageDiscarder)(faulty)


add(
    "regression-902951-unacked-message-not-resent",
    "REGRESSIONS-902951-02",
    "After a repeated OrderAck and a reconnect, the sender does not send its waiting messages.",
    _discard_unacknowledged_messages,
)
