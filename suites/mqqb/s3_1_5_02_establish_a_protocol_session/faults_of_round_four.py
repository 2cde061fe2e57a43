"""Faults that break rules of MS-MQQB 3.1.5.2 Establish a Protocol Session, written without knowledge of the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.states import ConnectionStatus, OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-history-connection-refused-for-wrong-client-guid", breaks="MQQB-3.1.5.2-03", blind=True)
class InitiatorHistoryConnectionRefusedForWrongClientGuid(SessionOpening):
    """The initiator adds an entry with Status ConnectionRefused, and not UnknownFailure, to ConnectionHistory if
    ClientGuid of the EstablishConnection response is not its own identifier.
    """

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        if packet.EstablishConnectionHeader.ClientGuid == self.qm.adm.Identifier:
            super().receive_establish_response(session, packet, now)
        else:
            reason = "the EstablishConnection response names another initiator (MS-MQQB 3.1.5.3.2)"
            self.qm.session_closing.close_session_after_failed_establishment(
                session, ConnectionStatus.CONNECTION_REFUSED, reason, now
            )


@fault("initiator-new-message-after-failed-ping-starts-attempt", breaks="MQQB-3.1.5.2.2-08", blind=True)
class InitiatorNewMessageAfterFailedPingStartsAttempt(MessageSending):
    """The initiator makes a new attempt before the Session Retry Connect Timer expires if a new message for the
    destination is added after a failed ping.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        queue = get_outgoing_queue(session)
        failed = bool(queue.ConnectionHistory) and queue.ConnectionHistory[-1].Status is ConnectionStatus.PING_FAILURE
        waits = session.SessionState is SessionState.WAITING_RECONNECT
        if failed and waits and queue.State is not OutgoingQueueState.ON_HOLD:
            self.qm.session_establishing.establish(session, now)
