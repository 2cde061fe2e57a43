"""Faults that break the rule MQMQ-2.2.20.4-D03."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import SessionHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_express, is_transactional


@fault("receiver-message-with-wrong-count-dropped", breaks="MQMQ-2.2.20.4-D03")
class ReceiverMessageWithWrongCountDropped(MessageReceiving):
    """The receiver drops a message with a wrong UserMsgSequenceNumber and closes the session."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if session.SessionState is SessionState.OPEN:
            super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-user-msg-sequence-number-ignored", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMsgSequenceNumberIgnored(SessionAcks):
    """The receiver ignores UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        counted = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, counted, now)


@fault("receiver-user-message-with-too-large-sequence-number-tolerated", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMessageWithTooLargeSequenceNumberTolerated(SessionAcks):
    """The receiver does not close the session when UserMsgSequenceNumber is greater than the number of received
    messages.
    """

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = min(header.UserMsgSequenceNumber, session.MessageReceivedCount)
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)


def _drop_messages_with_wrong_count(is_dropped: Callable[[UserMessagePacket], bool]) -> Install:
    """Let the receiver drop messages whose UserMsgSequenceNumber is wrong."""

    class WrongCountMessageDropper(MessageReceiving):
        def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
            header = packet.SessionHeader
            if (
                header is not None
                and is_dropped(packet)
                and header.UserMsgSequenceNumber != session.MessageReceivedCount + 1 & 0xFFFF
            ):
                self.qm.session_closing.close(session, "a fault", now)
            else:
                super().receive_user_message(session, packet, now)

    return replace_part(WrongCountMessageDropper)


add(
    "receiver-express-message-with-wrong-count-dropped",
    "MQMQ-2.2.20.4-D03",
    "The receiver drops an express message whose UserMsgSequenceNumber is wrong, and closes the session.",
    _drop_messages_with_wrong_count(is_express),
)


add(
    "receiver-transactional-message-with-wrong-count-dropped",
    "MQMQ-2.2.20.4-D03",
    "The receiver drops a transactional message whose UserMsgSequenceNumber is wrong, and closes the session.",
    _drop_messages_with_wrong_count(is_transactional),
)


@fault("receiver-accepts-wrong-sequence-number-of-later-user-message", breaks="MQMQ-2.2.20.4-D03")
class ReceiverAcceptsWrongSequenceNumberOfLaterUserMessage(SessionAcks):
    """The receiver does not close the session when UserMsgSequenceNumber of the second or a later message is wrong."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        if session.MessageReceivedCount > 1:
            header = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, header, now)


@fault("receiver-user-msg-sequence-number-low-byte-checked", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMsgSequenceNumberLowByteChecked(SessionAcks):
    """The receiver compares only the low byte of UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        number = session.MessageReceivedCount & 0xFF00 | header.UserMsgSequenceNumber & 0xFF
        super().validate_message_counts(session, replace(header, UserMsgSequenceNumber=number), now)
