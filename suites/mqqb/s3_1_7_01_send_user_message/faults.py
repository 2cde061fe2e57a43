"""Faults of MS-MQQB 3.1.7.1 Send User Message Event, with 3.1.7.1.1, 3.1.7.1.6."""

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

# -- 3.1.7.1, 3.1.7.1.1 its steps ----------------------------------------------------------------------------------


@fault("step-whatever-the-queue", breaks="MQQB-3.1.7.1-02")
class WhateverTheQueue(Sending):
    """Messages are sent while their queue is on hold."""

    def may_send(self, session: Session) -> bool:
        return session.SessionState is SessionState.OPEN and self.is_window_open(session)

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        queue = outgoing_queue(session)
        state, queue.State = queue.State, OutgoingQueueState.CONNECTED
        super().put_outgoing(session, position, now)
        queue.State = state


@fault("step-whatever-the-window", breaks="MQQB-3.1.7.1-03")
class WhateverTheWindow(Sending):
    """Messages are sent although the window is full."""

    def is_window_open(self, session: Session) -> bool:
        return True


@fault("step-window-one-too-small", breaks=("MQQB-3.1.7.1.3-14", "MQQB-3.1.7.1-03"))
class WindowOneTooSmall(Sending):
    """One message fewer is sent than the window has room for."""

    def is_window_open(self, session: Session) -> bool:
        return session.UnAckedMessageCount + 1 < session.WindowSize


@fault("step-without-reference", breaks="MQQB-3.1.7.1-04")
class WithoutReference(Sending):
    """The session has no outgoing queue when it has sent."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        session.OutgoingQueueReference = None


add(
    "step-not-serialized",
    ("MQQB-3.1.7.1-05", "MQQB-3.1.7.1.1-03"),
    "The packet has another label and priority than the message.",
    wrong_fields(
        UserMessagePacket, {"MessagePropertiesHeader.Label": "label", "BaseHeader.Flags": lambda old: old & ~7}
    ),
)


@fault("step-not-signed", breaks="MQQB-3.1.7.1-07")
class NotSigned(Securing):
    """Nothing is signed."""

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        return packet


@fault("step-not-encrypted", breaks="MQQB-3.1.7.1-08")
class NotEncrypted(Securing):
    """Nothing is encrypted."""

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        return packet


add(
    "step-not-updated",
    "MQQB-3.1.7.1-09",
    "Every transactional message has the first place in its sequence.",
    field_is(UserMessagePacket, "TransactionHeader.TxSequenceNumber", 1),
)
add(
    "step-not-transmitted",
    ("MQQB-3.1.7.1-10", "MQQB-3.1.7.1.6-01", "MQQB-3.1.7.16-03"),
    "Messages are taken for sent that are not.",
    skip(Sending.transmit),
)
add(
    "step-not-traced",
    ("MQQB-3.1.7.1-11", "MQDMPR-3.1.1.12-D61"),
    "Nothing that is sent is reported.",
    skip(Tracing.trace_sent),
)


@fault("step-own-messages-uncounted", breaks="MQQB-3.1.7.1-12")
class OwnMessagesUncounted(Sending):
    """The queue manager's own messages are not counted."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if position.UserMessage.MessagePropertiesHeader.MessageClass != MessageClass.MQMSG_CLASS_NORMAL:
            session.MessageSentCount -= 1
        return packet


@fault("step-one-identifier", breaks="MQQB-3.1.7.1.1-02")
class OneIdentifier(Numbering):
    """Every message has the identifier 5."""

    def assign_identifier(self) -> int:
        return 5


# -- 3.1.7.1.6 Sending the Packet ----------------------------------------------------------------------------------


@fault("step-transmitted-not-noted", breaks="MQQB-3.1.7.1.6-02")
class TransmittedNotNoted(Sending):
    """Transmitted stays FALSE."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        position.Transmitted = False


@fault("step-transmitted-too-early", breaks="MQQB-3.1.7.1.6-02")
class TransmittedTooEarly(Sending):
    """Transmitted is TRUE before a message is sent."""

    def put_outgoing(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        position.Transmitted = True
        super().put_outgoing(session, position, now)


add(
    "step-lost-unnoticed",
    ("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-06"),
    "A session whose connection is lost is not closed.",
    skip_during(Closing.on_transport_lost, Closing.close),
)


@fault("step-dispatched-into-nothing", breaks=("MQQB-3.1.7.1.6-03", "MQQB-3.1.7.1.6-04"))
class DispatchedIntoNothing(Closing):
    """When the connection is lost, what waits is dispatched all the same."""

    def close(self, session: Session, reason: str, now: Now) -> None:
        for position in session.OutgoingMessageTable:
            session.OutgoingMessageTable.remove(position)
        super().close(session, reason, now)


INFINITE = 0xFFFFFFFF


add(
    "negative-arrival-asked-for-with-negative-receive-only",
    ("MQQB-3.1.7.1.1-03",),
    "NA is sent only with NR.",
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
    "recoverable-journal-bit-not-sent-with-dead-letter-bit",
    ("MQQB-3.1.7.1.1-03",),
    "JP is sent only without JN.",
    change_construction(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.Flags": lambda flags: flags & ~0x200}) if packet.UserHeader.JN else packet
        )
    ),
    blind=True,
)


add(
    "time-to-be-received-of-transactional-messages-not-sent",
    ("MQQB-3.1.7.1.1-03",),
    "A transactional message is sent without its time to be received.",
    change_construction(
        lambda packet, message: (
            set_fields(packet, {"UserHeader.TimeToBeReceived": INFINITE}) if packet.UserHeader.TH else packet
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
    "time-not-looked-at-when-sent-again",
    "MQQB-3.1.7.1-06",
    "Whether a message has expired is looked at when it is sent for the first time only.",
    both(replace_part(_ExpiredOnlyUnsent), replace_part(_SentBeforeNotExpired)),
    blind=True,
)
