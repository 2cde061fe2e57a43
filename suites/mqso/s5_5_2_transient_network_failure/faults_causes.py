"""Faults of MS-MQSO 5.5.2 Transient Network Failure: single requests, later outages, and single queues."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import add
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteQueue, RemoteRead
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_read_cancelling import ClientReadCancelling
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.client_tasks import ClientTasks
from reference_qm.core.remote.server_bindings import ServerBindings
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus, SessionState
from reference_qm.model.statuses import Status
from reference_qm.model.timers import TimerName
from reference_qm.rpc import Interface
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, TransportAccepted, TransportLost


@fault("client-purge-during-outage-reported-as-done", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"), blind=True)
class ClientPurgeDuringOutageReportedAsDone(ClientQueueOpening):
    """The client reports a purge of a remote queue as done although the server could not be reached."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        try:
            yield from super().purge_queue_at_server(queue)
        except RemoteError as error:
            if error.status is not None:
                raise


@fault("client-peek-during-outage-reports-no-message", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"), blind=True)
class ClientPeekDuringOutageReportsNoMessage(ClientMessageReading):
    """The client answers a peek at a remote queue with "no message" although the server could not be reached."""

    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError as error:
            if error.status is None and not read.receives:
                raise RemoteError(str(error), Status.MQ_ERROR_IO_TIMEOUT) from error
            raise


@fault("client-remote-cursor-created-during-outage", breaks=("MQSO-5.5.2-03", "MQSO-5.5.2-04"), blind=True)
class ClientRemoteCursorCreatedDuringOutage(ClientReadCancelling):
    """The client returns a cursor of a remote queue although the server could not be reached."""

    def create_remote_cursor(self, queue: RemoteQueue) -> RemoteCallSequence:
        try:
            return (yield from super().create_remote_cursor(queue))
        except RemoteError as error:
            if error.status is None:
                return 1
            raise


@fault("client-lost-connection-leaves-requests-unanswered", breaks="MQSO-5.5.2-04", blind=True)
class ClientLostConnectionLeavesRequestsUnanswered(ClientTasks):
    """The client does not answer the requests that waited for a server when their connection was lost."""

    def on_connection_lost(self, event: TransportLost, now: Now) -> None:
        self.qm.remote_client.binding_by_connection[event.transport].task_by_call.clear()
        super().on_connection_lost(event, now)


@fault("client-second-outage-ends-remote-reading", breaks="MQSO-5.5.2-05", blind=True)
class ClientSecondOutageEndsRemoteReading(ServerBindings):
    """The client does not connect again to a server that it could not reach in two outages."""

    def construct_binding(self, server: Endpoint, interface: Interface) -> RemoteCallSequence:
        failed: dict[Endpoint, int] = self.__dict__.setdefault("failed", {})
        if failed.get(server, 0) > 2:
            raise RemoteError("the server was not available twice")
        try:
            return (yield from super().construct_binding(server, interface))
        except RemoteError:
            failed[server] = failed.get(server, 0) + 1
            raise


@fault("client-purge-after-outage-fails", breaks="MQSO-5.5.2-05", blind=True)
class ClientPurgeAfterOutageFails(ClientQueueOpening):
    """After a purge that failed because of an outage, the client refuses every further purge of remote queues."""

    def purge_queue_at_server(self, queue: RemoteQueue) -> RemoteCallSequence:
        if self.__dict__.get("failed"):
            raise RemoteError("an earlier purge failed")
        try:
            yield from super().purge_queue_at_server(queue)
        except RemoteError:
            self.__dict__["failed"] = True
            raise


@fault("client-remote-cursor-creation-fails-after-outage", breaks="MQSO-5.5.2-05", blind=True)
class ClientRemoteCursorCreationFailsAfterOutage(ClientReadCancelling):
    """After a cursor could not be created because of an outage, the client creates no further remote cursor."""

    def create_remote_cursor(self, queue: RemoteQueue) -> RemoteCallSequence:
        if self.__dict__.get("failed"):
            raise RemoteError("the creation of an earlier cursor failed")
        try:
            return (yield from super().create_remote_cursor(queue))
        except RemoteError:
            self.__dict__["failed"] = True
            raise


@fault("sender-only-first-lost-session-connects-again", breaks=("MQSO-5.5.2-D01", "MQSO-4.3.1.2-D03"), blind=True)
class SenderOnlyFirstLostSessionConnectsAgain(SessionClosing):
    """When the connections of two outgoing queues are lost, the sender connects again only the first of them."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        super().on_transport_lost(session, reason, now)
        first = self.__dict__.setdefault("first", session.number)
        if session.initiator and session.number != first:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("sender-second-failed-attempt-ends-retries", breaks="MQSO-5.5.2-D01", blind=True)
class SenderSecondFailedAttemptEndsRetries(SessionClosing):
    """The sender stops connecting after the second attempt in a row that could not reach the destination."""

    def close_session_after_failed_establishment(
        self, session: Session, status: ConnectionStatus, reason: str, now: Now
    ) -> None:
        super().close_session_after_failed_establishment(session, status, reason, now)
        failed: dict[int, int] = self.__dict__.setdefault("failed", {})
        failed[session.number] = failed.get(session.number, 0) + 1
        if failed[session.number] > 1:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("sender-connection-lost-during-handshake-not-retried", breaks="MQSO-5.5.2-D01", blind=True)
class SenderConnectionLostDuringHandshakeNotRetried(SessionClosing):
    """The sender does not connect again if the connection is lost before the session is open."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        was_open = session.SessionState is SessionState.OPEN
        super().on_transport_lost(session, reason, now)
        if session.initiator and not was_open:
            self.qm.session_timers.stop(session, TimerName.SESSION_RETRY_CONNECT)


@fault("sender-express-messages-dropped-by-outage", breaks="MQSO-5.5.2-D01", blind=True)
class SenderExpressMessagesDroppedByOutage(SessionClosing):
    """The sender drops the express messages of an outgoing queue whose connection is lost."""

    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        for one in list(session.OutgoingMessageTable):
            if not one.recoverable:
                session.OutgoingMessageTable.remove(one)
        super().on_transport_lost(session, reason, now)


class _RecorderOfHostsWithLostSessions(SessionClosing):
    def on_transport_lost(self, session: Session, reason: str, now: Now) -> None:
        if session.UnackedReceivedMsgCount:
            self.__dict__.setdefault("hosts", set()).add(session.RemoteQMAddress)
        super().on_transport_lost(session, reason, now)


class _RefuserOfHostsWithLostSessions(SessionOpening):
    def accept_transport(self, event: TransportAccepted, now: Now) -> None:
        if event.remote.host not in vars(self.qm.session_closing).get("hosts", ()):
            super().accept_transport(event, now)


add(
    "receiver-no-session-for-peer-after-outage",
    "MQSO-5.5.2-D01",
    "The receiver accepts no session from an address whose connection was lost before the acknowledgment of a message.",
    combine_installers(replace_part(_RecorderOfHostsWithLostSessions), replace_part(_RefuserOfHostsWithLostSessions)),
    blind=True,
)
