"""Faults in the SessionAcks that are sent when a queue is paused, on later sessions and beside other sessions. Spec:
MS-MQQB 3.1.7.13.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Session


class _ChangedSessionAckOfPause(TransferAdministering):
    """Changes a field of the SessionAck that the queue manager sends when a queue is paused."""

    field = ""

    def compute_changed_field(self, session: Session, value: int) -> int:
        raise NotImplementedError

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        packet = super().build_pause_ack(session)
        value = self.compute_changed_field(session, getattr(packet.SessionHeader, self.field))
        return replace(packet, SessionHeader=replace(packet.SessionHeader, **{self.field: value & 0xFFFF}))


@fault("queue-manager-pause-ack-number-counted-from-last-acknowledgment", breaks="MQQB-3.1.7.13-04", blind=True)
class QueueManagerPauseAckNumberCountedFromLastAcknowledgment(_ChangedSessionAckOfPause):
    """In the SessionAck that the queue manager sends when a queue is paused, RecoverableMsgAckSeqNumber is relative to
    the last acknowledgment.
    """

    field = "RecoverableMsgAckSeqNumber"

    def compute_changed_field(self, session: Session, value: int) -> int:
        return value - session.LastAckedRecoverableMsgSeqNumber if value else 0


@fault("queue-manager-pause-ack-has-recoverable-number-of-other-session", breaks="MQQB-3.1.7.13-04", blind=True)
class QueueManagerPauseAckHasRecoverableNumberOfOtherSession(_ChangedSessionAckOfPause):
    """In the SessionAck that the queue manager sends when a queue is paused, RecoverableMsgAckSeqNumber is that of
    another open session.
    """

    field = "RecoverableMsgAckSeqNumber"

    def compute_changed_field(self, session: Session, value: int) -> int:
        others = list_open_sessions(self.qm, session)
        return self.qm.session_acks.build_session_header(others[0]).RecoverableMsgAckSeqNumber if others else value


@fault("queue-manager-pause-ack-counts-only-unacked-recoverable-messages", breaks="MQQB-3.1.7.13-06", blind=True)
class QueueManagerPauseAckCountsOnlyUnackedRecoverableMessages(_ChangedSessionAckOfPause):
    """In the SessionAck that the queue manager sends when a queue is paused, RecoverableMsgSeqNumber is the number of
    recoverable messages that await an acknowledgment.
    """

    field = "RecoverableMsgSeqNumber"

    def compute_changed_field(self, session: Session, value: int) -> int:
        return sum(one.recoverable for one in session.OutgoingMessageTable.awaiting_ack)


@fault("queue-manager-pause-ack-has-recoverable-count-of-all-sessions", breaks="MQQB-3.1.7.13-06", blind=True)
class QueueManagerPauseAckHasRecoverableCountOfAllSessions(_ChangedSessionAckOfPause):
    """In the SessionAck that the queue manager sends when a queue is paused, RecoverableMsgSeqNumber is the number of
    recoverable messages sent on all open sessions.
    """

    field = "RecoverableMsgSeqNumber"

    def compute_changed_field(self, session: Session, value: int) -> int:
        return value + sum(one.RecoverableMessageSentCount for one in list_open_sessions(self.qm, session))
