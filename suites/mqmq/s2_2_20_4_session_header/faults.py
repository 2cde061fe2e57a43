"""Faults of MS-MQMQ 2.2.20.4 SessionHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import change_number, field_is, off_by, refused_unless_zero
from harness.faults.parts import fault
from harness.faults.primitives import packets
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket, SessionHeader, UserMessagePacket
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

for _name, _rules, _says, _install in (
    (
        "receiver-ack-sequence-number-one-too-low",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-05"),
        "The receiver's SessionAck carries an AckSequenceNumber that is one too low.",
        off_by(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-ack-sequence-number-counted-from-zero",
        ("MQMQ-2.2.20.4-03",),
        "The receiver's SessionAck carries an AckSequenceNumber that counts the first message as 0.",
        off_by(SessionAckPacket, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "receiver-recoverable-ack-number-one-too-high",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-07"),
        "The receiver's SessionAck carries a RecoverableMsgAckSeqNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "receiver-recoverable-ack-flags-one-bit-too-low",
        ("MQMQ-2.2.20.4-08",),
        "The receiver writes the bits of RecoverableMsgAckFlags in its SessionAck one bit too low.",
        change_number(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", lambda flags: flags >> 1),
    ),
    (
        "user-msg-sequence-number-one-too-high",
        ("MQMQ-2.2.20.4-09", "MQMQ-2.2.20.4-01", "MQQB-3.1.6.4-06"),
        "The queue manager's SessionAck carries a UserMsgSequenceNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "recoverable-msg-seq-number-one-too-high",
        ("MQMQ-2.2.20.4-10", "MQMQ-2.2.20.4-11"),
        "The queue manager's SessionAck carries a RecoverableMsgSeqNumber that is one too high.",
        off_by(SessionAckPacket, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "session-ack-window-size-1",
        ("MQMQ-2.2.20.4-12",),
        "The queue manager's SessionAck carries WindowSize 1.",
        field_is(SessionAckPacket, "SessionHeader.WindowSize", 1),
    ),
    (
        "receiver-session-header-reserved-refused",
        ("MQMQ-2.2.20.4-13",),
        "The queue manager refuses a SessionAck whose SessionHeader.Reserved is not zero.",
        refused_unless_zero(SessionAckPacket, "SessionHeader.Reserved"),
    ),
    (
        "session-ack-recoverable-flags-before-number",
        ("MQMQ-2.2.20.4-D01",),
        "The queue manager's SessionAck has RecoverableMsgAckFlags before RecoverableMsgAckSeqNumber.",
        packets(SessionAckPacket, lambda packet: (data := packet.build())[:22] + data[24:28] + data[22:24] + data[28:]),
    ),
    (
        "receiver-recoverable-ack-flags-reversed",
        ("MQMQ-2.2.20.4-D02",),
        "The receiver's SessionAck acknowledges the first message in the highest bit of RecoverableMsgAckFlags.",
        change_number(
            SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", lambda flags: int(f"{flags:032b}"[::-1], 2)
        ),
    ),
    (
        "receiver-recoverable-ack-number-1-without-messages",
        ("MQMQ-2.2.20.4-07",),
        "The receiver's SessionAck that acknowledges no recoverable message carries RecoverableMsgAckSeqNumber 1.",
        change_number(SessionAckPacket, "SessionHeader.RecoverableMsgAckSeqNumber", lambda number: number or 1),
    ),
):
    add(_name, _rules, _says, _install)


@fault("receiver-message-with-wrong-count-dropped", breaks="MQMQ-2.2.20.4-D03")
class ReceiverMessageWithWrongCountDropped(Receiving):
    """The receiver drops a message with a wrong UserMsgSequenceNumber and closes the session."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            super().take_message(session, packet, receipt, now)


@fault("receiver-user-msg-sequence-number-ignored", breaks="MQMQ-2.2.20.4-D03")
class ReceiverUserMsgSequenceNumberIgnored(SessionAcks):
    """The receiver ignores UserMsgSequenceNumber."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        counted = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, counted, now)


@fault("receiver-ack-sequence-number-of-one-byte", breaks="MQMQ-2.2.20.4-05", blind=True)
class ReceiverAckSequenceNumberOfOneByte(SessionAcks):
    """The receiver's SessionAck carries only the low byte of AckSequenceNumber."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF)
