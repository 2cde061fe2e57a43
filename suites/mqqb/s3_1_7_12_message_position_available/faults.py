"""Faults that break rules of MS-MQQB 3.1.7.12 Message Position Available Event."""

from __future__ import annotations

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step, omit_step_during, set_fields
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import SendMessage
from suites.mqqb.s3_1_7_12_message_position_available.fault_steps import redirect_sent_messages


def _is_addressed_to_own_address(faulty: FaultyCore, request: SendMessage) -> bool:
    return any(f"TCP:{address}\\" in request.to for address in faulty.core.config.addresses)


add(
    "sender-message-for-own-queue-also-sent",
    "MQQB-3.1.7.12-02",
    "The sender also sends a message for its own queue to another queue manager.",
    redirect_sent_messages(_is_addressed_to_own_address, as_well=True),
)


add(
    "sender-multicast-message-opens-session",
    "MQQB-3.1.7.12-03",
    "The sender opens a session to one queue manager for a multicast message.",
    redirect_sent_messages(lambda faulty, request: request.to.startswith("MULTICAST=")),
)


@fault("sender-message-for-paused-queue-opens-session", breaks="MQQB-3.1.7.12-04")
class SenderMessageForPausedQueueOpensSession(MessageSending):
    """The sender establishes a session for a message whose outgoing queue is on hold."""

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        super().on_message_position_available(queue, position, now)
        if queue.State is OutgoingQueueState.ON_HOLD and queue.session.SessionState is SessionState.CLOSED:
            self.qm.session_establishing.establish(queue.session, now)


@fault("sender-message-ends-pause-of-queue", breaks="MQQB-3.1.7.12-04")
class SenderMessageEndsPauseOfQueue(MessageSending):
    """The sender resumes an outgoing queue on hold when a message becomes available."""

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        if queue.State is OutgoingQueueState.ON_HOLD and queue.session.SessionState is SessionState.OPEN:
            queue.State = OutgoingQueueState.CONNECTED
        super().on_message_position_available(queue, position, now)


@fault("sender-second-message-for-paused-queue-sent", breaks="MQQB-3.1.7.12-04", blind=True)
class SenderSecondMessageForPausedQueueSent(MessageSending):
    """The sender resumes a paused outgoing queue when a second message for this queue becomes available."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        if len(session.OutgoingMessageTable) == 2 and session.OutgoingQueueReference is not None:
            self.qm.transfer_administering.resume_queue(session.OutgoingQueueReference, now)


@fault("sender-message-to-held-queue-sent-with-message-to-other-queue", breaks="MQQB-3.1.7.12-04", blind=True)
class SenderMessageToHeldQueueSentWithMessageToOtherQueue(MessageSending):
    """When a message for another queue becomes available, the sender also sends the messages of its
    queues that are on hold.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        for queue in list(self.qm.adm.OutgoingQueues.values()):
            held = queue.session
            on_hold = held is not session and queue.State is OutgoingQueueState.ON_HOLD
            if on_hold and held.SessionState is SessionState.OPEN:
                queue.State = OutgoingQueueState.CONNECTED
                for waiting in held.OutgoingMessageTable:
                    self.qm.dispatch_collection.add(held, waiting)
                self.dispatch_messages(held, now)
                queue.State = OutgoingQueueState.ON_HOLD


add(
    "sender-http-message-opens-session",
    "MQQB-3.1.7.12-05",
    "The sender opens a session for a message to an HTTP or HTTPS name.",
    redirect_sent_messages(lambda faulty, request: request.to.startswith("DIRECT=HTTP")),
)


add(
    "sender-first-message-opens-no-session",
    "MQQB-3.1.7.12-06",
    "The sender establishes no session for the first message to a destination.",
    omit_step(SessionEstablishing.establish),
)


_STATES_WITHOUT_HANDSHAKE = (SessionState.OPEN, SessionState.CLOSED, SessionState.WAITING_RECONNECT)


@fault("initiator-no-session-while-other-session-is-established", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorNoSessionWhileOtherSessionIsEstablished(SessionEstablishing):
    """The initiator establishes no session for a message while it establishes a session with another queue manager."""

    def establish(self, session: Session, now: Now, *, again: bool = False) -> None:
        others = (one for one in self.qm.sessions.values() if one.initiator and one is not session)
        if again or all(one.SessionState in _STATES_WITHOUT_HANDSHAKE for one in others):
            super().establish(session, now, again=again)


@fault("initiator-second-destination-waits-for-first", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorSecondDestinationWaitsForFirst(MessageSending):
    """The initiator establishes no session for a destination while it establishes a session for another destination."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one.initiator and one is not session]
        settled = (SessionState.OPEN, SessionState.CLOSED, SessionState.WAITING_RECONNECT)
        busy = any(one.SessionState not in settled for one in others)
        if busy and session.SessionState is SessionState.CLOSED:
            session.OutgoingMessageTable.add(position)
            return
        super().add_message_to_session_table(session, position, now)


@fault("initiator-second-session-after-idle-one-not-established", breaks="MQQB-3.1.7.12-06", blind=True)
class InitiatorSecondSessionAfterIdleOneNotEstablished(MessageSending):
    """The initiator establishes no session for a message if an earlier session to the same destination was closed."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.CLOSED and get_outgoing_queue(session).ConnectionHistory:
            session.OutgoingMessageTable.add(position)
            return
        super().add_message_to_session_table(session, position, now)


@fault("sender-no-session-for-express-message-to-new-destination", breaks="MQQB-3.1.7.12-06", blind=True)
class SenderNoSessionForExpressMessageToNewDestination(MessageSending):
    """The initiator establishes no session for an express message to a destination."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.CLOSED and not position.recoverable:
            session.OutgoingMessageTable.add(position)
            self.qm.dispatch_collection.add(session, position)
            return
        super().add_message_to_session_table(session, position, now)


add(
    "sender-message-without-entry",
    "MQQB-3.1.7.12-07",
    "The sender creates no entry in OutgoingMessageTable for a message.",
    omit_step(MessageSending.on_message_position_available),
)


@fault("sender-no-outgoing-entry-for-second-queue-of-same-host", breaks="MQQB-3.1.7.12-07", blind=True)
class SenderNoOutgoingEntryForSecondQueueOfSameHost(MessageSending):
    """When the sender is connected to one queue of a computer, it creates no entry in OutgoingMessageTable for a
    message to a second queue of this computer.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        host = position.MessagePosition.MessageReference.DestinationQueueFormatName.partition("\\")[0]
        connected = any(
            queue.session is not session
            and queue.session.SessionState is SessionState.OPEN
            and queue.DestinationFormatName.partition("\\")[0] == host
            for queue in self.qm.adm.OutgoingQueues.values()
        )
        own = position.UserMessage.MessagePropertiesHeader.MessageClass
        if connected and not own and not position.TxSequenceNumber:
            return
        super().add_message_to_session_table(session, position, now)


@fault("sender-outgoing-entry-refers-to-first-message", breaks=("MQQB-3.1.7.12-08", "MQQB-3.1.7.12-15"))
class SenderOutgoingEntryRefersToFirstMessage(MessageSending):
    """The sender makes every entry of OutgoingMessageTable refer to the first message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.first: OutgoingMessagePosition | None = None

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        self.first = self.first or position
        position.MessagePosition, position.UserMessage = self.first.MessagePosition, self.first.UserMessage
        super().add_message_to_session_table(session, position, now)


@fault("sender-new-entry-refers-to-waiting-message", breaks="MQQB-3.1.7.12-08", blind=True)
class SenderNewEntryRefersToWaitingMessage(MessageSending):
    """The sender makes a new entry refer to the message that has waited longest for the destination, if
    another message waits.
    """

    def on_message_position_available(self, queue: OutgoingQueue, position: MessagePosition, now: Now) -> None:
        waiting = [one.MessagePosition for one in queue.session.OutgoingMessageTable if not one.TxSequenceNumber]
        if waiting and position.MessageReference.TransactionIdentifier is None:
            position.MessageReference = waiting[0].MessageReference
        super().on_message_position_available(queue, position, now)


@fault("sender-outgoing-entry-has-packet-with-wrong-body", breaks=("MQQB-3.1.7.12-09", "MQQB-3.1.7.12-16"))
class SenderOutgoingEntryHasPacketWithWrongBody(MessageSending):
    """The sender creates the packet of an entry with a body that differs from the body of the message."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        body = {"MessagePropertiesHeader.MessageBody": b"another"}
        packet: UserMessagePacket = set_fields(super().construct_user_message(position), body)
        return packet


def _set_element_of_new_entry(element: str, value: object) -> Install:
    """Make the sender set an element of each new entry of OutgoingMessageTable."""

    class NewEntryChanged(MessageSending):
        def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
            setattr(position, element, value)
            super().add_message_to_session_table(session, position, now)

    return replace_part(NewEntryChanged)


_NEW_OUTGOING_ENTRY_FAULTS: tuple[tuple[str, str, str, str, object], ...] = (
    (
        "sender-new-outgoing-entry-received-order-ack-true",
        "MQQB-3.1.7.12-10",
        "The sender sets ReceivedOrderAck of a new entry in OutgoingMessageTable to TRUE.",
        "ReceivedOrderAck",
        True,
    ),
    (
        "sender-new-outgoing-entry-transmitted-true",
        "MQQB-3.1.7.12-10",
        "The sender sets Transmitted of a new entry in OutgoingMessageTable to TRUE.",
        "Transmitted",
        True,
    ),
    (
        "sender-new-outgoing-entry-sequence-number-7",
        "MQQB-3.1.7.12-11",
        "The sender sets SequenceNumber of a new entry in OutgoingMessageTable to 7.",
        "SequenceNumber",
        7,
    ),
    (
        "sender-new-outgoing-entry-recoverable-sequence-number-7",
        "MQQB-3.1.7.12-12",
        "The sender sets RecoverableSequenceNumber of a new entry in OutgoingMessageTable to 7.",
        "RecoverableSequenceNumber",
        7,
    ),
    (
        "sender-new-outgoing-entry-tx-sequence-number-7",
        "MQQB-3.1.7.12-13",
        "The sender sets TxSequenceNumber of a new entry in OutgoingMessageTable to 7.",
        "TxSequenceNumber",
        7,
    ),
)


for _name, _rule, _says, _element, _value in _NEW_OUTGOING_ENTRY_FAULTS:
    add(_name, _rule, _says, _set_element_of_new_entry(_element, _value))


@fault("sender-received-order-ack-true-for-message-behind-full-window", breaks="MQQB-3.1.7.12-10", blind=True)
class SenderReceivedOrderAckTrueForMessageBehindFullWindow(MessageSending):
    """The sender sets ReceivedOrderAck to TRUE for a message that becomes available while the window is full."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if session.SessionState is SessionState.OPEN and not self.is_window_open(session):
            position.ReceivedOrderAck = True
        super().add_message_to_session_table(session, position, now)


class _NewOutgoingEntryChanger(MessageSending):
    """Change a new entry of OutgoingMessageTable."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        self.change(session, position)
        super().add_message_to_session_table(session, position, now)

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        raise NotImplementedError


@fault("sender-sequence-number-assigned-when-message-is-available", breaks="MQQB-3.1.7.12-11", blind=True)
class SenderSequenceNumberAssignedWhenMessageIsAvailable(_NewOutgoingEntryChanger):
    """The sender sets SequenceNumber of the second and later messages to the next number when the
    message becomes available.
    """

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        if session.MessageSentCount:
            position.SequenceNumber = session.MessageSentCount + 1 & 0xFFFF


@fault("sender-recoverable-number-assigned-when-message-is-available", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderRecoverableNumberAssignedWhenMessageIsAvailable(_NewOutgoingEntryChanger):
    """The sender sets RecoverableSequenceNumber of a recoverable message that becomes available to the next number."""

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        if position.recoverable and session.RecoverableMessageSentCount:
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount + 1 & 0xFFFF


@fault("sender-nontransactional-message-with-tx-number-of-preceding-message", breaks="MQQB-3.1.7.12-13", blind=True)
class SenderNontransactionalMessageWithTxNumberOfPrecedingMessage(_NewOutgoingEntryChanger):
    """The sender gives a message that follows a transactional message the TxSequenceNumber of the
    transactional message.
    """

    def change(self, session: Session, position: OutgoingMessagePosition) -> None:
        for last in list(session.OutgoingMessageTable)[-1:]:
            if not position.TxSequenceNumber and not position.recoverable:
                position.TxSequenceNumber = last.TxSequenceNumber


add(
    "sender-new-outgoing-entry-not-dispatched",
    "MQQB-3.1.7.12-14",
    "The sender does not dispatch a message that becomes available.",
    omit_step_during(MessageSending.add_message_to_session_table, MessageSending.dispatch_messages),
)


@fault("sender-message-after-late-acknowledgment-not-sent", breaks="MQQB-3.1.7.12-14")
class SenderMessageAfterLateAcknowledgmentNotSent(SessionEstablishing):
    """The sender never establishes a lost session again for a new message if the messages of this session were
    acknowledged in the meantime.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        if len(session.OutgoingMessageTable):
            super().on_session_retry_connect_timer(session, now)


@fault("sender-message-of-priority-0-waits-for-next-message", breaks="MQQB-3.1.7.12-14", blind=True)
class SenderMessageOfPriority0WaitsForNextMessage(MessageSending):
    """The sender dispatches a message of priority 0 only together with the next message."""

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        priority = position.MessagePosition.MessageReference.Priority
        if priority == 0 and session.SessionState is SessionState.OPEN and not position.TxSequenceNumber:
            session.OutgoingMessageTable.add(position)
            return
        for waiting in session.OutgoingMessageTable:
            if not waiting.AwaitingAck:
                self.qm.dispatch_collection.add(session, waiting)
        super().add_message_to_session_table(session, position, now)


@fault("sender-unacked-message-sent-again-when-second-becomes-available", breaks="MQQB-3.1.7.12-15", blind=True)
class SenderUnackedMessageSentAgainWhenSecondBecomesAvailable(MessageSending):
    """The sender sends the waiting message again when a second message becomes available before the acknowledgment."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.again: set[int] = set()

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        for sent in session.OutgoingMessageTable.awaiting_ack[:1]:
            number = sent.UserMessage.UserHeader.MessageID
            if not sent.TxSequenceNumber and number not in self.again:
                self.again.add(number)
                session.UnAckedMessageCount -= 1
                session.OutgoingMessageTable.mark_for_resending(sent)
                self.qm.dispatch_collection.add(session, sent)
        super().add_message_to_session_table(session, position, now)


@fault("sender-transactional-message-sent-although-queue-on-hold", breaks="MQQB-3.1.7.12-04", blind=True)
class SenderTransactionalMessageSentAlthoughQueueOnHold(MessageSending):
    """The sender sends a transactional message that becomes available while its outgoing queue is OnHold and the
    session is open.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        super().add_message_to_session_table(session, position, now)
        if position.TxSequenceNumber and get_outgoing_queue(session).State is OutgoingQueueState.ON_HOLD:
            self.qm.dispatch_collection.add(session, position)
            self.dispatch_messages(session, now)

    def may_send(self, session: Session) -> bool:
        queue, position = session.OutgoingQueueReference, session.OutgoingMessageTable.get_next_unsent()
        held = queue is not None and queue.State is OutgoingQueueState.ON_HOLD
        if not held or position is None or not position.TxSequenceNumber:
            return super().may_send(session)
        return session.SessionState is SessionState.OPEN and self.is_window_open(session)


@fault("sender-recoverable-number-of-waiting-message-is-last-number-sent", breaks="MQQB-3.1.7.12-12", blind=True)
class SenderRecoverableNumberOfWaitingMessageIsLastNumberSent(MessageSending):
    """The sender sets RecoverableSequenceNumber of a message that cannot be sent at once on an open session to the
    number of the last recoverable message that was sent, and keeps this number when it sends the message.
    """

    def add_message_to_session_table(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if position.recoverable and session.SessionState is SessionState.OPEN and not self.may_send(session):
            position.RecoverableSequenceNumber = session.RecoverableMessageSentCount
        super().add_message_to_session_table(session, position, now)

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        kept = 0 if position.SequenceNumber else position.RecoverableSequenceNumber
        packet = super().update_user_message(session, position, now)
        position.RecoverableSequenceNumber = kept or position.RecoverableSequenceNumber
        return packet


def _is_addressed_to_own_host_name(faulty: FaultyCore, request: SendMessage) -> bool:
    queue_names, name = faulty.core.queue_names, request.to
    return name.upper().startswith("DIRECT=OS:") and queue_names.is_own_host("OS", name[10:].partition("\\")[0])


for _name, _rule, _says, _meant, _as_well in (
    (
        "sender-message-for-own-host-name-also-sent",
        "MQQB-3.1.7.12-02",
        "The sender also sends a message for a queue that is named with its own host name to another queue manager.",
        _is_addressed_to_own_host_name,
        True,
    ),
    (
        "sender-https-message-opens-session",
        "MQQB-3.1.7.12-05",
        "The sender opens a session for a message to an HTTPS name.",
        lambda faulty, request: request.to.upper().startswith("DIRECT=HTTPS:"),
        False,
    ),
    (
        "sender-http-message-opens-session-as-well",
        "MQQB-3.1.7.12-05",
        "The sender opens a session for a message to an HTTP name, but not for a message to an HTTPS name.",
        lambda faulty, request: request.to.upper().startswith("DIRECT=HTTP:"),
        False,
    ),
):
    add(_name, _rule, _says, redirect_sent_messages(_meant, as_well=_as_well), blind=True)
