"""Faults of MS-MQMQ 2.2.20.4 SessionHeader."""

from __future__ import annotations

from harness.faults.fields import field_is, off_by, recomputed, refused_unless_zero
from harness.faults.registry import add
from reference_qm.codec import SessionAckPacket

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
        recomputed(ACK, "SessionHeader.RecoverableMsgAckFlags", lambda flags: flags >> 1),
    ),
    (
        "header-session-ack-sent-count",
        ("MQMQ-2.2.20.4-09",),
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
):
    add(_name, _rules, _says, _install)
