"""Faults of MS-MQQB 3.1.7.1 Send User Message Event, 3.1.7.1.1 and 3.1.7.1.6."""

from __future__ import annotations

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, set_fields, skip, skip_during, wrong_fields
from harness.faults.registry import add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.connecting import outgoing_queue
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message, OutgoingMessagePosition, Session
from reference_qm.model.states import OutgoingQueueState, SessionState
from reference_qm.surface.clock import Now

# -- 3.1.7.1, 3.1.7.1.1 the steps before a message is sent -----------------------------------------------------------


@fault("sender-message-of-paused-queue-sent", breaks="MQQB-3.1.7.1-02")
class SenderMessageOfPausedQueueSent(Sending):
    """The sender sends messages of an outgoing queue that is on hold."""

    def may_send(self, session: Session) -> bool:
        return session.SessionState is SessionState.OPEN and self.is_window_open(session)

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = outgoing_queue(session)
        state, queue.State = queue.State, OutgoingQueueState.CONNECTED
        super().put_outgoing(session, position, now)
        queue.State = state


@fault("sender-ignores-window-of-receiver", breaks="MQQB-3.1.7.1-03")
class SenderIgnoresWindowOfReceiver(Sending):
    """The sender sends messages although the window is full."""

    def is_window_open(self, session: Session) -> bool:
        return True


@fault("sender-window-one-too-small", breaks=("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03"))
class SenderWindowOneTooSmall(Sending):
    """The sender sends one message fewer than the window allows."""

    def is_window_open(self, session: Session) -> bool:
        return session.UnAckedMessageCount + 1 < session.WindowSize


@fault("sender-outgoing-queue-reference-missing", breaks="MQQB-3.1.7.1-04")
class SenderOutgoingQueueReferenceMissing(Sending):
    """The sender leaves OutgoingQueueReference of the session empty after it has sent a message."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        session.OutgoingQueueReference = None


add(
    "sender-packet-label-and-priority-wrong",
    ("MQQB-3.1.7.1-05", "MQQB-3.1.7.1.1-03"),
    "The sender's packet has a label and a priority that differ from the message.",
    wrong_fields(
        UserMessagePacket, {"MessagePropertiesHeader.Label": "label", "BaseHeader.Flags": lambda old: old & ~7}
    ),
)


@fault("sender-requested-signature-missing", breaks="MQQB-3.1.7.1-07")
class SenderRequestedSignatureMissing(Securing):
    """The sender does not sign a message for which a signature is requested."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet


@fault("sender-requested-encryption-missing", breaks="MQQB-3.1.7.1-08")
class SenderRequestedEncryptionMissing(Securing):
    """The sender does not encrypt a message for which privacy is requested."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


add(
    "sender-tx-sequence-number-always-1",
    "MQQB-3.1.7.1-09",
    "The sender's transactional messages all have TxSequenceNumber 1.",
    field_is(UserMessagePacket, "TransactionHeader.TxSequenceNumber", 1),
)
add(
    "sender-packet-not-transmitted",
    ("MQQB-3.1.7.1-10", "MQQB-3.1.7.1.6-01", "MQQB-3.1.7.16-03"),
    "The sender marks a message as sent without sending its packet.",
    skip(Sending.transmit),
)
add(
    "sender-traced-message-without-report",
    ("MQQB-3.1.7.1-11", "MQDMPR-3.1.1.12-D61"),
    "The sender sends no report when it sends a traced message.",
    skip(Tracing.trace_sent),
)


@fault("sender-does-not-count-own-administration-messages", breaks="MQQB-3.1.7.1-12")
class SenderDoesNotCountOwnAdministrationMessages(Sending):
    """The sender does not count the acknowledgment messages that it creates itself in MessageSentCount."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if position.UserMessage.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL:
            session.MessageSentCount -= 1
        return packet


@fault("sender-message-id-always-5", breaks="MQQB-3.1.7.1.1-02")
class SenderMessageIdAlways5(Numbering):
    """The sender assigns the MessageID 5 to every message."""

    def assign_identifier(self) -> int:
        return 5


# -- 3.1.7.1.6 Sending the Packet ----------------------------------------------------------------------------------


@fault("sender-outgoing-entry-transmitted-false-after-sending", breaks="MQQB-3.1.7.1.6-02")
class SenderOutgoingEntryTransmittedFalseAfterSending(Sending):
    """The sender leaves Transmitted of a sent OutgoingMessagePosition at FALSE."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.Transmitted = False


@fault("sender-outgoing-entry-transmitted-true-before-sending", breaks="MQQB-3.1.7.1.6-02")
class SenderOutgoingEntryTransmittedTrueBeforeSending(Sending):
    """The sender sets Transmitted of an OutgoingMessagePosition to TRUE before it sends the message."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        position.Transmitted = True
        super().put_outgoing(session, position, now)


add(
    "sender-session-of-lost-connection-not-closed",
    ("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-06"),
    "The sender does not close a session whose connection is lost.",
    skip_during(Closing.on_transport_lost, Closing.close),
)


@fault("sender-messages-of-lost-session-deleted", breaks=("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04"))
class SenderMessagesOfLostSessionDeleted(Closing):
    """The sender deletes the unacknowledged messages of a session whose connection is lost."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


INFINITE_LIFETIME_S = 0xFFFFFFFF


add(
    "sender-packet-na-sent-only-with-nr",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet has NA clear when NR is clear.",
    change_construction(
        lambda packet, message: (
            packet
            if packet.MessagePropertiesHeader.NR
            else set_fields(packet, {"MessagePropertiesHeader.Flags": lambda flags: flags & ~4})
        )
    ),
    blind=True,
)


add(
    "sender-packet-jp-missing-with-jn",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet has JP clear when JN is set.",
    change_construction(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~0x200}) if packet.UserHeader.JN else packet
        )
    ),
    blind=True,
)


add(
    "sender-transactional-packet-time-to-be-received-missing",
    ("MQQB-3.1.7.1.1-03",),
    "The sender's packet of a transactional message has no TimeToBeReceived.",
    change_construction(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.TimeToBeReceived": INFINITE_LIFETIME_S}) if packet.UserHeader.TH else packet
        )
    ),
    blind=True,
)


class _ExpiredOnlyUnsent(Sending):
    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent: set[int] = set()

    def delete_expired(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        if not self.was_sent(position.UserMessage):
            super().delete_expired(session, position, now)

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        self._sent.add(packet.UserHeader.MessageID)

    def was_sent(self, packet: UserMessagePacket) -> bool:
        return self.is_own(packet) and packet.UserHeader.MessageID in self._sent


class _SentBeforeNotExpired(Lifetimes):
    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        sending = self.qm.sending
        assert isinstance(sending, _ExpiredOnlyUnsent)
        return not sending.was_sent(packet) and super().has_expired(packet, now)


add(
    "sender-expiration-not-checked-at-resend",
    "MQQB-3.1.7.1-06",
    "The sender checks the expiration of a message only when it first sends the message.",
    both(replace_part(_ExpiredOnlyUnsent), replace_part(_SentBeforeNotExpired)),
    blind=True,
)
