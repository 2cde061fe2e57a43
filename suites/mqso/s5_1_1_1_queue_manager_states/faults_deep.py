"""Faults of MS-MQSO 5.1.1.1 that only special cases reveal: a second occurrence."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.errors import CommandError
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.administering import Administering
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.inputs import DirectoryAnswered, Stopped, TransportAccepted


@fault("queue-manager-second-offline-request-ignored", breaks="MQSO-5.1.1.1-D05")
class QueueManagerSecondOfflineRequestIgnored(Administering):
    """The queue manager stays online when it is taken offline a second time."""

    def take_offline(self, now: Now) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count != 2:
            super().take_offline(now)


@fault("queue-manager-second-loss-of-directory-not-noticed", breaks=("MQSO-5.1.1.1-D06", "MQSO-5.5.4-05"))
class QueueManagerSecondLossOfDirectoryNotNoticed(DirectoryClient):
    """The queue manager leaves DirectoryOffline at FALSE when the directory becomes unavailable a second time."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_answered(event, now)
        returned = before and not state.DirectoryOffline
        self.returned = getattr(self, "returned", False) or returned
        if self.returned:
            state.DirectoryOffline = False


@fault("acceptor-second-session-of-computer-refused", breaks="MQSO-5.1.1-01", blind=True)
class AcceptorSecondSessionOfComputerRefused(SessionOpening):
    """The queue manager handles only one connection of each computer at a time."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if not any(one.RemoteQMAddress == event.remote.host and not one.initiator for one in self.qm.sessions.values()):
            super().accept_transport(event, now)


@fault("queue-manager-stop-leaves-own-session-open", breaks=("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"), blind=True)
class QueueManagerStopLeavesOwnSessionOpen(Inputs):
    """A queue manager that is stopped closes the sessions that others opened, but not the sessions that it opened
    itself.
    """

    def on_stopped(self, event: Stopped, now: Now) -> None:
        kept = [(number, one) for number, one in self.qm.sessions.items() if one.initiator]
        for number, _ in kept:
            del self.qm.sessions[number]
        super().on_stopped(event, now)
        self.qm.sessions.update(kept)


@fault("throttled-queue-manager-accepts-local-message", breaks="MQSO-5.1.1.1-05", blind=True)
class ThrottledQueueManagerAcceptsLocalMessage(Commands):
    """The queue manager accepts the messages of local applications while Throttled is TRUE."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            return super().send_message(request, token, now)
        finally:
            self.qm.adm.Throttled = throttled


@fault("offline-queue-manager-accepts-new-session", breaks="MQSO-5.1.1.1-D05", blind=True)
class OfflineQueueManagerAcceptsNewSession(Connecting):
    """A queue manager that was taken offline closes its sessions, but accepts new ones."""

    def is_session_acceptable(self) -> bool:
        active, self.qm.adm.ConnectionActive = self.qm.adm.ConnectionActive, True
        acceptable = super().is_session_acceptable()
        self.qm.adm.ConnectionActive = active
        return acceptable


@fault("queue-manager-online-sends-only-to-first-queue", breaks="MQSO-5.1.1.1-D05", blind=True)
class QueueManagerOnlineSendsOnlyToFirstQueue(Administering):
    """When a queue manager comes online, it sends only the messages of its first outgoing queue."""

    def establish_waiting(self, now: Now) -> None:
        for queue in list(self.qm.adm.OutgoingQueues.values())[:1]:
            if len(queue.session.OutgoingMessageTable):
                self.qm.establishing.establish(queue.session, now)


@fault("offline-directory-transactional-message-refused", breaks="MQSO-5.1.1.1-D07", blind=True)
class OfflineDirectoryTransactionalMessageRefused(Commands):
    """While the directory cannot be reached, the queue manager refuses transactional messages to remote queues."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and request.transactional:
            raise CommandError("no transactional message is sent while the directory is unavailable")
        return super().send_message(request, token, now)
