"""Faults in timers that are started again (MS-MQQB 3.1.2)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.model.adm import MessageIDHistoryEntry, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now


@fault("receiver-message-id-history-cleanup-timer-restarted-by-each-message", breaks="MQQB-3.1.2.8-01", blind=True)
class ReceiverMessageIdHistoryCleanupTimerRestartedByEachMessage(MessageHistory):
    """The receiver restarts the MessageIDHistory Cleanup Timer with each message that arrives."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        self.qm.timers.stop(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0))
        return super().remember_message(packet, now)


@fault("receiver-message-id-history-cleanup-timer-doubled-after-expiry", breaks="MQQB-3.1.2.8-01", blind=True)
class ReceiverMessageIdHistoryCleanupTimerDoubledAfterExpiry(MessageHistory):
    """When the receiver restarts the MessageIDHistory Cleanup Timer, it starts the timer with twice the correct
    duration.
    """

    def on_history_timer(self, now: Now) -> None:
        super().on_history_timer(now)
        key = TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0)
        if self.qm.timers.is_running(key):
            duration_ms = self.qm.settings.message_id_history_cleanup_ms // self.qm.settings.scale
            self.qm.timers.start(key, now.monotonic_ms, 2 * duration_ms)


@fault("initiator-ping-response-timer-of-later-request-3-s", breaks="MQQB-3.1.2.9-D01", blind=True)
class InitiatorPingResponseTimerOfLaterRequest3S(PingHandling):
    """For every Ping Request after the first one, the initiator starts the Ping Response Timer with a duration of
    3 s.
    """

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        if self.qm.adm.PingCookie > 1:
            self.qm.session_timers.start(session, TimerName.PING_RESPONSE, 3000, now)


@fault("initiator-ping-response-timer-restarted-by-any-response", breaks="MQQB-3.1.2.9-D01", blind=True)
class InitiatorPingResponseTimerRestartedByAnyResponse(PingHandling):
    """When a Ping Response with a wrong Cookie arrives, the initiator restarts the Ping Response Timer."""

    def receive_response(self, data: bytes, now: Now) -> None:
        super().receive_response(data, now)
        for session in self.qm.sessions.values():
            if self.qm.timers.is_running(TimerKey(TimerName.PING_RESPONSE, session.number)):
                self.qm.session_timers.start(session, TimerName.PING_RESPONSE, self.qm.settings.ping_response_ms, now)
