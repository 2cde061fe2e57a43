"""Faults of messages of one kind during or after a transient network failure: MQSO-5.5.2-01."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.errors import CommandError
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("sender-message-refused-during-network-failure", breaks="MQSO-5.5.2-01")
class SenderMessageRefusedDuringNetworkFailure(MessageEnqueueing):
    """The sender refuses a message of an application while its outgoing queue waits to connect again."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Any, now: Now) -> Any:
        if isinstance(queue, OutgoingQueue) and queue.session.SessionState is SessionState.WAITING_RECONNECT:
            raise CommandError("the destination cannot be reached: try again later")
        return super().put_message(queue, message, token, result, now)


@fault("sender-express-messages-lost-in-network-failure", breaks="MQSO-5.5.2-01")
class SenderExpressMessagesLostInNetworkFailure(SessionInitialization):
    """The sender deletes the express messages of an outgoing queue when it connects the queue again."""

    def initialize_session(self, session: Session, now: Now) -> None:
        if session.is_retrying_connection:
            for position in list(session.OutgoingMessageTable):
                if not position.recoverable:
                    session.OutgoingMessageTable.remove(position)
        super().initialize_session(session, now)
