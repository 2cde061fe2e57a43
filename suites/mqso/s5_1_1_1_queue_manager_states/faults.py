"""Faults that break rules of MS-MQSO 5.1.1.1 Queue Manager States and of 5.1.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, omit_step_during, replace_method_during
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.input_dispatching import InputDispatching
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.enterprise.queue_manager_initialization import QueueManagerInitialization
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.errors import CommandError
from reference_qm.core.names.queue_names import JOURNAL_SUFFIX
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.attributes import ServiceState
from reference_qm.model.states import SessionState
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CloseRpcConnection, Effect
from reference_qm.surface.inputs import DirectoryAnswered, QueueManagerStopped, TransportAccepted

add(
    "session-request-not-answered",
    ("MQSO-5.1.1-01", "MQSO-6.6.1-D07"),
    "The queue manager accepts connections, but answers no request on them.",
    omit_step(SessionOpening.accept_transport),
)


add(
    "ping-not-answered",
    "MQSO-5.1.1-01",
    "The queue manager does not answer pings.",
    omit_step(PingHandling.receive_request),
)


@fault("acceptor-second-session-of-computer-refused", breaks="MQSO-5.1.1-01", blind=True)
class AcceptorSecondSessionOfComputerRefused(SessionOpening):
    """The queue manager handles only one connection of each computer at a time."""

    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if not any(one.RemoteQMAddress == event.remote.host and not one.initiator for one in self.qm.sessions.values()):
            super().accept_transport(event, now)


add(
    "failed-initialization-not-retried",
    ("MQSO-5.1.1.1-03", "MQSO-5.1.1.1-D02", "MQSO-6.4.4.1-01", "MQSO-6.4.4.1-D01", "MQSO-6.6.2-D08"),
    "The queue manager does not retry a failed initialization.",
    omit_step(QueueManagerInitialization.start_initialization_retry_timer),
)


add(
    "stop-leaves-sessions-open",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close its sessions.",
    omit_step_during(InputDispatching.on_stopped, SessionClosing.close),
)


add(
    "stop-leaves-remote-queues-open",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close the queues that it has opened on other queue managers.",
    omit_step_during(InputDispatching.on_stopped, ClientTasks.abandon_all_tasks),
)


def _keep_reader_connections_after_stop(faulty: FaultyCore) -> None:
    def drop_close_after_stop(effect: Effect) -> Iterator[Effect]:
        if not isinstance(effect, CloseRpcConnection) or faulty.core.halted is None:
            yield effect

    faulty.effect_filters.append(drop_close_after_stop)


add(
    "stop-leaves-remote-readers-connected",
    ("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"),
    "A queue manager that is stopped does not close the connections of remote readers.",
    _keep_reader_connections_after_stop,
)


@fault("queue-manager-stop-leaves-own-session-open", breaks=("MQSO-5.1.1.1-04", "MQSO-5.1.1.1-D08"), blind=True)
class QueueManagerStopLeavesOwnSessionOpen(InputDispatching):
    """A queue manager that is stopped closes the sessions that others opened, but not the sessions that it opened
    itself.
    """

    def on_stopped(self, event: QueueManagerStopped, now: Now) -> None:
        kept = [(number, one) for number, one in self.qm.sessions.items() if one.initiator]
        for number, _ in kept:
            del self.qm.sessions[number]
        super().on_stopped(event, now)
        self.qm.sessions.update(kept)


add(
    "queue-manager-throttled-forever",
    ("MQSO-5.1.1.1-05", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.6-03"),
    "The queue manager leaves Throttled TRUE when resources are sufficient again.",
    omit_step(QueueQuotas.end_flow_control),
)


@fault("throttled-queue-manager-accepts-express-message", breaks="MQSO-5.1.1.1-05")
class ThrottledQueueManagerAcceptsExpressMessage(QueueQuotas):
    """The queue manager accepts express messages while Throttled is TRUE."""

    def check_room_for_message(self, queue: Queue, message: Message) -> EnqueueStatus:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        status = super().check_room_for_message(queue, message)
        self.qm.adm.Throttled = throttled
        return status


@fault("throttled-receiver-remembers-refused-message", breaks="MQSO-5.1.1.1-05", blind=True)
class ThrottledReceiverRemembersRefusedMessage(MessageReceiving):
    """A queue manager refuses a message while Throttled is TRUE, and later discards the repeated message as a
    duplicate.
    """

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        super().put_received_message_into_queue(session, packet, receipt, now)
        refused = session.SessionState is not SessionState.OPEN and packet.TransactionHeader is None
        if refused and self.qm.adm.Throttled and self.qm.message_history.find_duplicate(packet) is None:
            self.qm.message_history.remember_message(packet, now)


@fault("throttled-queue-manager-accepts-local-message", breaks="MQSO-5.1.1.1-05", blind=True)
class ThrottledQueueManagerAcceptsLocalMessage(HigherLayerCommands):
    """The queue manager accepts the messages of local applications while Throttled is TRUE."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            return super().send_message(request, token, now)
        finally:
            self.qm.adm.Throttled = throttled


add(
    "queue-manager-never-throttled",
    ("MQSO-5.1.1.1-06", "MQSO-5.1.1.1-D04", "MQDMPR-3.1.7.2.5-03"),
    "The queue manager never sets Throttled, and accepts all messages while resources are short.",
    omit_step(QueueQuotas.begin_flow_control),
)


@fault("stopped-queue-manager-serves-requests", breaks="MQSO-5.1.1.1-D01")
class StoppedQueueManagerServesRequests(InputDispatching):
    """A stopped queue manager continues to serve requests."""

    def on_stopped(self, event: QueueManagerStopped, now: Now) -> None:
        super().on_stopped(event, now)
        self.qm.adm.QueueManagerState, self.qm.halted = ServiceState.READY, None


@fault("failed-initialization-retried-every-120-seconds", breaks=("MQSO-5.1.1.1-D03", "MQSO-6.6.2-D09"))
class FailedInitializationRetriedEvery120Seconds(QueueManagerInitialization):
    """The queue manager retries a failed initialization every 120 seconds."""

    def start_initialization_retry_timer(self, now: Now) -> None:
        before = self.qm.adm.InitializationRetryTimerDuration
        super().start_initialization_retry_timer(now)
        self.qm.adm.InitializationRetryTimerDuration = before


@fault("queue-manager-does-not-end-second-flow-control", breaks="MQSO-5.1.1.1-D04")
class QueueManagerDoesNotEndSecondFlowControl(QueueQuotas):
    """A queue manager ends its first flow control, but not its second flow control."""

    def end_flow_control(self) -> None:
        if self.qm.adm.Throttled and getattr(self, "ended", False):
            return
        self.ended = self.qm.adm.Throttled
        super().end_flow_control()


add(
    "offline-request-ignored",
    "MQSO-5.1.1.1-D05",
    "The queue manager stays online when an administrator takes it offline.",
    omit_step(TransferAdministering.take_offline),
)


add(
    "online-request-ignored",
    "MQSO-5.1.1.1-D05",
    "The queue manager stays offline when an administrator brings it online.",
    omit_step(TransferAdministering.bring_online),
)


@fault("queue-manager-second-offline-request-ignored", breaks="MQSO-5.1.1.1-D05")
class QueueManagerSecondOfflineRequestIgnored(TransferAdministering):
    """The queue manager stays online when it is taken offline a second time."""

    def take_offline(self, now: Now) -> None:
        self.count = getattr(self, "count", 0) + 1
        if self.count != 2:
            super().take_offline(now)


@fault("offline-queue-manager-accepts-new-session", breaks="MQSO-5.1.1.1-D05", blind=True)
class OfflineQueueManagerAcceptsNewSession(SessionConnecting):
    """A queue manager that was taken offline closes its sessions, but accepts new ones."""

    def is_session_acceptable(self) -> bool:
        active, self.qm.adm.ConnectionActive = self.qm.adm.ConnectionActive, True
        acceptable = super().is_session_acceptable()
        self.qm.adm.ConnectionActive = active
        return acceptable


@fault("queue-manager-sends-only-first-outgoing-queue-when-online-again", breaks="MQSO-5.1.1.1-D05", blind=True)
class QueueManagerSendsOnlyFirstOutgoingQueueWhenOnlineAgain(TransferAdministering):
    """When a queue manager comes online, it sends only the messages of its first outgoing queue."""

    def establish_waiting(self, now: Now) -> None:
        for queue in list(self.qm.adm.OutgoingQueues.values())[:1]:
            if len(queue.session.OutgoingMessageTable):
                self.qm.session_establishing.establish(queue.session, now)


@fault("offline-queue-manager-loses-express-messages", breaks="MQSO-5.1.1.1-D05")
class OfflineQueueManagerLosesExpressMessages(TransferAdministering):
    """When a queue manager returns to the network, it has lost the express messages in its outgoing queues."""

    def bring_online(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            for one in list(queue.session.OutgoingMessageTable):
                if not one.recoverable:
                    queue.session.OutgoingMessageTable.remove(one)
        super().bring_online(now)


@fault("queue-manager-second-loss-of-directory-not-noticed", breaks=("MQSO-5.1.1.1-D06", "MQSO-5.5.4-05"))
class QueueManagerSecondLossOfDirectoryNotNoticed(DirectoryClient):
    """The queue manager leaves DirectoryOffline at FALSE when the directory becomes unavailable a second time."""

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        state = self.qm.enterprise.state
        before = state.DirectoryOffline
        super().on_directory_answered(event, now)
        returned = before and not state.DirectoryOffline
        self.returned = getattr(self, "returned", False) or returned
        if self.returned:
            state.DirectoryOffline = False


@fault("last-address-from-directory-used-while-directory-is-offline", breaks="MQSO-5.1.1.1-D07")
class LastAddressFromDirectoryUsedWhileDirectoryIsOffline(DirectoryClient):
    """While the directory cannot be reached, the queue manager sends messages to the last address that the directory
    returned.
    """

    def on_directory_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_directory_answered(event, now)
        if event.elements is None:
            self.qm.enterprise.directory = before

    def start_online_timer_if_offline(self, now: Now) -> None:
        self.qm.enterprise.state.DirectoryOffline = False
        super().start_online_timer_if_offline(now)


@fault("messages-to-remote-queues-refused-while-directory-is-offline", breaks="MQSO-5.1.1.1-D07")
class MessagesToRemoteQueuesRefusedWhileDirectoryIsOffline(HigherLayerCommands):
    """While the directory cannot be reached, the queue manager refuses applications' messages to remote queues."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if (
            self.qm.enterprise.state.DirectoryOffline
            and self.qm.destination_resolving.find_local_queue(request.to) is None
        ):
            raise CommandError("no message is sent while the directory is unavailable")
        return super().send_message(request, token, now)


@fault("transactional-message-refused-while-directory-is-offline", breaks="MQSO-5.1.1.1-D07", blind=True)
class TransactionalMessageRefusedWhileDirectoryIsOffline(HigherLayerCommands):
    """While the directory cannot be reached, the queue manager refuses transactional messages to remote queues."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.enterprise.state.DirectoryOffline and request.transactional:
            raise CommandError("no transactional message is sent while the directory is unavailable")
        return super().send_message(request, token, now)


def _close_only_open_sessions_at_stop(original: Callable[..., Any], *_: object) -> Callable[..., Any]:
    def close_open_session(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            original(qm, session, reason, now)

    return close_open_session


add(
    "stopping-queue-manager-keeps-session-in-handshake",
    "MQSO-5.1.1.1-D08",
    "A queue manager in the state Stopping closes its open sessions, but not a session whose handshake is incomplete.",
    replace_method_during(InputDispatching.on_stopped, SessionClosing.close, _close_only_open_sessions_at_stop),
    blind=True,
)


@fault("queue-manager-stop-loses-queue-journals", breaks="MQSO-5.1.1.1-D01", blind=True)
class QueueManagerStopLosesQueueJournals(StateRestoring):
    """A queue manager that is stopped and started again has lost the recoverable messages in the journals of its
    queues.
    """

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if not position.QueueReference.Pathname.lower().endswith(f";{JOURNAL_SUFFIX}"):
            super()._insert_message(position, lookup_identifier)
