"""Faults that break rules of MS-MQSO 5.5.2 Transient Network Failure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus
from reference_qm.surface import remote_commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result
from reference_qm.surface.effects import CommandCompleted, Connect, Effect
from reference_qm.surface.inputs import Input, TransportFailed


def _stop_reconnecting_after_first_failed_connection(faulty: FaultyCore) -> None:
    """Stop connecting after the first failed connection."""
    failed: list[Input] = []

    def record_connection_failure(event: Input) -> Iterator[Input]:
        if isinstance(event, TransportFailed):
            failed.append(event)
        yield event

    def filter_connect_effect(effect: Effect) -> Iterator[Effect]:
        if not (failed and isinstance(effect, Connect)):
            yield effect

    faulty.input_filters.append(record_connection_failure)
    faulty.effect_filters.append(filter_connect_effect)


add(
    "failed-connection-not-retried",
    ("MQSO-4.3.1.2-D03", "MQSO-5.5.2-01", "MQSO-5.5.2-05", "MQSO-5.5.2-D01"),
    "The queue manager does not connect again after a failed connection.",
    _stop_reconnecting_after_first_failed_connection,
)


@fault("queue-manager-only-first-queue-reconnected-after-outage", breaks="MQSO-5.5.2-01", blind=True)
class QueueManagerOnlyFirstQueueReconnectedAfterOutage(SessionClosing):
    """After a network outage, the queue manager reconnects only its first outgoing queue."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        first = next(iter(self.qm.adm.OutgoingQueues.values()), None)
        if not session.initiator or first is None or session.OutgoingQueueReference is first:
            super().await_reconnect(session, now)


EMPTY_RECEIVE_RESULT = Result({"message": None})


@fault("unreachable-queue-read-as-empty", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"))
class UnreachableQueueReadAsEmpty(ClientCommands):
    """A read of a queue that cannot be reached reports that the queue is empty."""

    def remote_receive(self, request: remote_commands.RemoteReceive, token: int, now: Now) -> None:
        self.qm.emit_effect(CommandCompleted(token, EMPTY_RECEIVE_RESULT))


@fault("queue-manager-unreachable-queue-peeked-as-empty", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"), blind=True)
class QueueManagerUnreachableQueuePeekedAsEmpty(ClientCommands):
    """A peek at a queue that cannot be reached reports that the queue is empty."""

    def remote_peek(self, request: remote_commands.RemotePeek, token: int, now: Now) -> None:
        self.qm.emit_effect(CommandCompleted(token, Result({"message": None})))


@fault("queue-manager-purge-of-unreachable-queue-succeeds", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"), blind=True)
class QueueManagerPurgeOfUnreachableQueueSucceeds(ClientCommands):
    """A purge of a queue that cannot be reached succeeds."""

    def remote_purge(self, request: remote_commands.RemotePurge, token: int, now: Now) -> None:
        self.qm.emit_effect(CommandCompleted(token, Result()))


@fault("queue-manager-remote-peeks-fail-after-outage", breaks="MQSO-5.5.2-05", blind=True)
class QueueManagerRemotePeeksFailAfterOutage(ClientCommands):
    """After a request for a remote queue failed, the queue manager refuses all later peeks at remote queues."""

    def remote_peek(self, request: remote_commands.RemotePeek, token: int, now: Now) -> None:
        if self.qm.closed_sessions or getattr(self, "opened", 0) > 1:
            raise CommandError("the remote queue is not available")
        super().remote_peek(request, token, now)

    def remote_open(self, request: remote_commands.RemoteOpen, token: int, now: Now) -> None:
        self.opened = getattr(self, "opened", 0) + 1
        super().remote_open(request, token, now)


MAX_ATTEMPTS = 5


@fault("sender-gives-up-after-five-failed-connections", breaks="MQSO-5.5.2-D01", blind=True)
class SenderGivesUpAfterFiveFailedConnections(SessionClosing):
    """A queue manager does not connect again after five failed attempts during one outage."""

    def await_reconnect(self, session: Session, now: Now) -> None:
        queue = session.OutgoingQueueReference
        if session.initiator and queue is not None:
            since = takewhile(
                lambda entry: entry.Status is not ConnectionStatus.ESTABLISHED, reversed(queue.ConnectionHistory)
            )
            failed = [entry for entry in since if entry.Status is ConnectionStatus.SOCKET_CONNECT_FAILURE]
            if len(failed) >= MAX_ATTEMPTS:
                return
        super().await_reconnect(session, now)


@fault("sender-unsent-transactional-messages-lost-with-session", breaks="MQSO-5.5.2-D01", blind=True)
class SenderUnsentTransactionalMessagesLostWithSession(SessionClosing):
    """When the sender loses its session, it loses the transactional messages that it has not sent yet."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for position in list(session.OutgoingMessageTable):
            if position.TxSequenceNumber and session.initiator and not position.ReceivedSessionAck:
                session.OutgoingMessageTable.remove(position)
        super().on_transport_lost(session, reason, now)
