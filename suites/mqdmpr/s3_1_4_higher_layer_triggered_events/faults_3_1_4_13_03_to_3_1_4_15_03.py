"""Faults that break the rules MQDMPR-3.1.4.13-03 to MQDMPR-3.1.4.15-03."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, faulty_only_if
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now


@fault("initiator-online-again-sends-messages-of-one-queue-only", breaks=("MQDMPR-3.1.4.13-03", "MQQB-3.1.4.1-02"))
class InitiatorOnlineAgainSendsMessagesOfOneQueueOnly(TransferAdministering):
    """A queue manager that is brought online sends the waiting messages of only one of several outgoing queues."""

    def establish_waiting(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            idle = queue.session.SessionState in (SessionState.CLOSED, SessionState.WAITING_RECONNECT)
            if idle and len(queue.session.OutgoingMessageTable) and queue.State is not OutgoingQueueState.ON_HOLD:
                self.qm.session_establishing.establish(queue.session, now)
                return


@fault("bring-online-establishes-only-first-waiting-session", breaks="MQDMPR-3.1.4.13-03")
class BringOnlineEstablishesOnlyFirstWaitingSession(TransferAdministering):
    """A queue manager that is brought online sends only the messages of its first outgoing queue."""

    def bring_online(self, now: Now) -> None:
        queues = self.qm.adm.OutgoingQueues
        waiting = [name for name, one in queues.items() if len(one.session.OutgoingMessageTable)]
        held = {name: queues.pop(name) for name in waiting[1:]}
        super().bring_online(now)
        queues.update(held)


@fault("online-queue-manager-refuses-sessions", breaks="MQDMPR-3.1.4.13-03", blind=True)
class OnlineQueueManagerRefusesSessions(SessionOpening):
    """A queue manager that is brought online sends messages, but accepts no session from another queue manager."""

    def receive_establish_request(self, session: Session, packet: Any, now: Now) -> None:
        if self.qm.adm.QueueManagerVersion == "was offline":
            self.qm.session_closing.close(session, "offline", now)
            return
        if not self.qm.adm.ConnectionActive:
            self.qm.adm.QueueManagerVersion = "was offline"
        super().receive_establish_request(session, packet, now)


@fault("queue-manager-messages-sent-while-offline-not-sent-when-online", breaks="MQDMPR-3.1.4.13-03", blind=True)
class QueueManagerMessagesSentWhileOfflineNotSentWhenOnline(TransferAdministering):
    """A queue manager that is brought online does not send the messages that were sent while it was offline."""

    def establish_waiting(self, now: Now) -> None:
        known = dict(self.qm.adm.OutgoingQueues)
        for name, queue in known.items():
            if not queue.ConnectionHistory:
                del self.qm.adm.OutgoingQueues[name]
        super().establish_waiting(now)
        self.qm.adm.OutgoingQueues.update(known)


@fault("sender-paused-queue-sends-when-its-session-opens", breaks="MQDMPR-3.1.4.14-03")
class SenderPausedQueueSendsWhenItsSessionOpens(TransferAdministering):
    """When an outgoing queue without an open session is paused, the queue manager still sends its messages."""

    @faulty_only_if(lambda part, queue, now: queue.session.SessionState is not SessionState.OPEN)
    def pause_queue(self, queue: OutgoingQueue, now: Now) -> None:
        return


@fault("sender-second-resume-of-queue-has-no-effect", breaks="MQDMPR-3.1.4.15-03")
class SenderSecondResumeOfQueueHasNoEffect(TransferAdministering):
    """When an outgoing queue is paused and resumed for the second time, the queue manager leaves the queue paused."""

    def resume_queue(self, queue: OutgoingQueue, now: Now) -> None:
        if queue.Label.endswith("resumed"):
            return
        super().resume_queue(queue, now)
        queue.Label = f"{queue.Label} resumed"
