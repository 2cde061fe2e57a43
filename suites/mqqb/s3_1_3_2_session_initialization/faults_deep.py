"""Faults of MS-MQQB 3.1.3.2 Session Initialization, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.transactional_sending import outgoing_sequence
from reference_qm.model.adm import Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now


def _keep_session_element(name: str) -> type[SessionInitialization]:
    """Return a component that keeps the old value of a given element when a session is opened again."""

    class ElementKept(SessionInitialization):
        def initialize_session(self, session: Session, now: Now) -> None:
            old: Any = getattr(session, name)
            super().initialize_session(session, now)
            if session.initiator:
                setattr(session, name, old)

    return ElementKept


for rule, name, text in (
    ("MQQB-3.1.3.2-02", "MessageSentCount", "message-sent-count"),
    ("MQQB-3.1.3.2-03", "RecoverableMessageSentCount", "recoverable-message-sent-count"),
    ("MQQB-3.1.3.2-04", "MessageReceivedCount", "message-received-count"),
    ("MQQB-3.1.3.2-05", "RecoverableMessageReceivedCount", "recoverable-message-received-count"),
    ("MQQB-3.1.3.2-06", "RecoverableMsgAckFlags", "recoverable-ack-flags"),
    ("MQQB-3.1.3.2-07", "LastAckedRecoverableMsgSeqNumber", "last-acked-number"),
    ("MQQB-3.1.3.2-08", "UnackedReceivedMsgCount", "unacked-received-count"),
    ("MQQB-3.1.3.2-25", "SessionActive", "session-active"),
    ("MQQB-3.1.3.2-26", "ReceivedAck", "received-ack"),
    ("MQQB-3.1.3.2-29", "DirectFormatSession", "direct-format-session"),
):
    add(
        f"initiator-{text}-of-earlier-session-kept",
        rule,
        f"The initiator opens another session for a queue with the {name} of the previous session.",
        replace_part(_keep_session_element(name)),
        blind=True,
    )


@fault("initiator-no-cleanup-timer-of-retried-session", breaks="MQQB-3.1.3.2-13", blind=True)
class InitiatorNoCleanupTimerOfRetriedSession(SessionInitialization):
    """The initiator does not start the Session Cleanup Timer of a session that a retry opens."""

    def initialize_timers(self, session: Session, now: Now) -> None:
        super().initialize_timers(session, now)
        if session.retrying:
            self.qm.session_timers.stop(session, TimerName.SESSION_CLEANUP)


def _keep_sequence_element(name: str) -> type[SessionInitialization]:
    class SequenceElementKept(SessionInitialization):
        def initialize_transfer_sequence(self, session: Session, now: Now) -> None:
            old = session.TxOutgoingSequence
            super().initialize_transfer_sequence(session, now)
            if old is not None:
                setattr(outgoing_sequence(session), name, getattr(old, name))

    return SequenceElementKept


for rule, name, text in (
    ("MQQB-3.1.3.2-16", "LastAck", "last-ack"),
    ("MQQB-3.1.3.2-18", "LastAckCount", "last-ack-count"),
    ("MQQB-3.1.3.2-19", "ResendIntervalIndex", "resend-interval-index"),
    ("MQQB-3.1.3.2-20", "ResendInterval", "resend-interval"),
):
    add(
        f"initiator-{text}-of-earlier-session-kept",
        rule,
        f"The sender begins a new session with the {name} of the previous TxOutgoingSequence.",
        replace_part(_keep_sequence_element(name)),
        blind=True,
    )


@fault("initiator-transactional-messages-not-sent-again-on-new-session", breaks="MQQB-3.1.3.2-22", blind=True)
class InitiatorTransactionalMessagesNotSentAgainOnNewSession(SessionInitialization):
    """On a new session, the sender sends only nontransactional messages again; it sends transactional messages again
    when the resend timer expires.
    """

    def initialize_messages(self, session: Session) -> None:
        super().initialize_messages(session)
        session.OutgoingMessageTable.withhold_all()
        for position in session.OutgoingMessageTable:
            if not position.TxSequenceNumber:
                self.qm.dispatch_collection.add(session, position)


@fault("acceptor-other-identifier-in-responses-than-in-requests", breaks="MQQB-3.1.3.2-34", blind=True)
class AcceptorOtherIdentifierInResponsesThanInRequests(SessionOpening):
    """The queue manager sends an Identifier in its EstablishConnection responses that differs from the Identifier in
    its requests.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        other = UUID(int=self.qm.adm.Identifier.int ^ 1)
        return set_fields(packet, {"EstablishConnectionHeader.ServerGuid": other})


@fault("initiator-waiting-messages-of-retry-one-by-one", breaks="MQQB-3.1.3.2-23", blind=True)
class InitiatorWaitingMessagesOfRetryOneByOne(SessionInitialization):
    """On a session that a retry opens, the initiator sends each message only after the previous message has been
    acknowledged.
    """

    def initialize_messages(self, session: Session) -> None:
        super().initialize_messages(session)
        if session.retrying:
            session.UnAckedMessageCount = self.qm.config.window_size - 1


@fault("acceptor-count-of-closed-session-continued", breaks="MQQB-3.1.3.2-04", blind=True)
class AcceptorCountOfClosedSessionContinued(SessionOpening):
    """The acceptor begins a session with the MessageReceivedCount of the last closed session of the same sender."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        for old in self.qm.closed_sessions:
            if not old.initiator and old.RemoteQMGuid == session.RemoteQMGuid:
                session.MessageReceivedCount = old.MessageReceivedCount
