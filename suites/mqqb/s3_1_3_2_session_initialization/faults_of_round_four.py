"""Faults that break rules of MS-MQQB 3.1.3.2 Session Initialization, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import ConnectionParametersPacket, UserMessagePacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import is_order_ack
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


@fault(
    "acceptor-parameters-response-repeats-small-window-of-request",
    breaks=("MQQB-3.1.3.2-24", "MQQB-3.1.5.4.1-11", "MQQB-3.1.6.4-09"),
    blind=True,
)
class AcceptorParametersResponseRepeatsSmallWindowOfRequest(SessionOpening):
    """The acceptor's ConnectionParameters response contains the WindowSize of the request if it is less than 64."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        wanted = request.ConnectionParametersHeader.WindowSize
        if not 0 < wanted < session.WindowSize:
            return response
        header = replace(response.ConnectionParametersHeader, WindowSize=wanted)
        return replace(response, ConnectionParametersHeader=header)


@fault("sender-recoverable-count-includes-order-acks", breaks="MQQB-3.1.3.2-03", blind=True)
class SenderRecoverableCountIncludesOrderAcks(MessageSending):
    """The sender counts its OrderAcks, which are express, in RecoverableMessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if is_order_ack(packet):
            session.RecoverableMessageSentCount = session.RecoverableMessageSentCount + 1 & 0xFFFF
        return packet


@fault("initiator-ack-wait-timer-runs-when-retry-begins", breaks="MQQB-3.1.3.2-09", blind=True)
class InitiatorAckWaitTimerRunsWhenRetryBegins(SessionInitialization):
    """The initiator's Session Ack Wait Timer is running when a repeated attempt to establish a session with waiting
    messages begins.
    """

    def initialize_timers(self, session: Session, now: Now) -> None:
        super().initialize_timers(session, now)
        if session.is_retrying_connection and len(session.OutgoingMessageTable):
            timeout_ms = self.qm.settings.ack_wait_timeout_ms
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_WAIT, timeout_ms, now)
