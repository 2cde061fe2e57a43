"""Faults of MS-MQQB 3.1.1.3.1 Session State that occur only with two sessions or two outgoing queues."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import always
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


def _forget_last_sequence_time(qm: QueueManager) -> None:
    qm.adm.last_sequence_time = 0


add(
    "sender-sequences-of-two-queues-have-the-same-time-stamp",
    "MQQB-3.1.1.3.1-03",
    "The sender gives the first sequences of two outgoing queues the same TimeStamp if they begin in the same second.",
    always(_forget_last_sequence_time),
)


@fault("receiver-message-counted-on-first-session-of-host", breaks="MQQB-3.1.1.3.1-01")
class ReceiverMessageCountedOnFirstSessionOfHost(Receiving):
    """The receiver counts a message on the first open session from the same address."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        first = next(
            one
            for one in self.qm.sessions.values()
            if one.RemoteQMAddress == session.RemoteQMAddress
            and one.initiator is session.initiator
            and one.SessionState is SessionState.OPEN
        )
        super().count_received(first, packet)


@fault("sender-messages-sent-again-in-reverse-order-of-recoverability", breaks="MQQB-3.1.1.3.1-D01")
class SenderMessagesSentAgainInReverseOrderOfRecoverability(SessionInitialization):
    """When the sender sends messages again, it sends recoverable messages before express messages."""

    def initialize_messages(self, session: Session, now: Now | None = None) -> None:
        express = [one for one in session.OutgoingMessageTable if not one.recoverable]
        super().initialize_messages(session)
        if not session.retrying:
            return
        for position in express:
            session.OutgoingMessageTable.remove(position)
            session.OutgoingMessageTable.add(position)
            self.qm.dispatch_collection.add(session, position)
