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

ACK = SessionAckPacket

for _name, _rules, _says, _install in (
    (
        "header-session-ack-one-too-few",
        ("MQMQ-2.2.20.4-01", "MQMQ-2.2.20.4-02", "MQMQ-2.2.20.4-05"),
        "AckSequenceNumber is one too few.",
        off_by(ACK, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "header-session-ack-begins-with-0",
        ("MQMQ-2.2.20.4-03",),
        "AckSequenceNumber counts from 0.",
        off_by(ACK, "SessionHeader.AckSequenceNumber", -1),
    ),
    (
        "header-session-ack-lowest-recoverable",
        ("MQMQ-2.2.20.4-04", "MQMQ-2.2.20.4-06", "MQMQ-2.2.20.4-07"),
        "RecoverableMsgAckSeqNumber is one more.",
        off_by(ACK, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
    ),
    (
        "header-session-ack-flags-shifted",
        ("MQMQ-2.2.20.4-08",),
        "The bits of RecoverableMsgAckFlags are one too low.",
        change_number(ACK, "SessionHeader.RecoverableMsgAckFlags", lambda flags: flags >> 1),
    ),
    (
        "header-session-ack-sent-count",
        ("MQMQ-2.2.20.4-09", "MQMQ-2.2.20.4-01", "MQQB-3.1.6.4-06"),
        "UserMsgSequenceNumber is one more.",
        off_by(ACK, "SessionHeader.UserMsgSequenceNumber", 1),
    ),
    (
        "header-session-ack-sent-recoverable-count",
        ("MQMQ-2.2.20.4-10", "MQMQ-2.2.20.4-11"),
        "RecoverableMsgSeqNumber is one more.",
        off_by(ACK, "SessionHeader.RecoverableMsgSeqNumber", 1),
    ),
    (
        "header-session-ack-window",
        ("MQMQ-2.2.20.4-12",),
        "WindowSize is 1.",
        field_is(ACK, "SessionHeader.WindowSize", 1),
    ),
    (
        "header-session-reserved-refused",
        ("MQMQ-2.2.20.4-13",),
        "A packet whose SessionHeader.Reserved is not zero is refused.",
        refused_unless_zero(ACK, "SessionHeader.Reserved"),
    ),
    (
        "header-session-ack-flags-before-number",
        ("MQMQ-2.2.20.4-D01",),
        "RecoverableMsgAckFlags stands before RecoverableMsgAckSeqNumber.",
        packets(ACK, lambda packet: (data := packet.build())[:22] + data[24:28] + data[22:24] + data[28:]),
    ),
    (
        "header-session-ack-flags-from-the-top",
        ("MQMQ-2.2.20.4-D02",),
        "The first recoverable message is the highest bit of RecoverableMsgAckFlags.",
        change_number(ACK, "SessionHeader.RecoverableMsgAckFlags", lambda flags: int(f"{flags:032b}"[::-1], 2)),
    ),
    (
        "header-session-ack-number-kept",
        ("MQMQ-2.2.20.4-07",),
        "RecoverableMsgAckSeqNumber of an acknowledgment of nothing recoverable is 1.",
        change_number(ACK, "SessionHeader.RecoverableMsgAckSeqNumber", lambda number: number or 1),
    ),
):
    add(_name, _rules, _says, _install)


@fault("header-wrong-count-loses-the-message", breaks="MQMQ-2.2.20.4-D03")
class WrongCountLoses(Receiving):
    """A message with a wrong UserMsgSequenceNumber closes the session and is not taken."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            super().take_message(session, packet, receipt, now)


@fault("header-wrong-count-overlooked", breaks="MQMQ-2.2.20.4-D03")
class WrongCountOverlooked(SessionAcks):
    """UserMsgSequenceNumber is not looked at."""

    def validate_message_counts(self, session: Session, header: SessionHeader, now: Now) -> None:
        counted = replace(header, UserMsgSequenceNumber=session.MessageReceivedCount)
        super().validate_message_counts(session, counted, now)


@fault("ack-sequence-number-of-one-byte", breaks="MQMQ-2.2.20.4-05", blind=True)
class AckSequenceNumberOfOneByte(SessionAcks):
    """AckSequenceNumber is counted in one byte."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF)
