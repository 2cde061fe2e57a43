"""Faults of the headers. Spec: MS-MQQB 2.1 to 2.2.6, 3.1.5.1, MS-MQMQ 2.2.19.1, 2.2.20.4."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.faults import registry
from harness.faults.primitives import byte, packets, refuse, wrong_bytes, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    SessionAckPacket,
    UserMessagePacket,
)

ESTABLISH, PARAMETERS, ACK, MESSAGE = (
    EstablishConnectionPacket,
    ConnectionParametersPacket,
    SessionAckPacket,
    UserMessagePacket,
)
VERSION_AT, FLAGS_AT, SIGNATURE_AT, PT_AT = 0, 2, 4, 18
IN, SH, DH, TR = 1 << 3, 1 << 4, 1 << 5, 1 << 8
CS = 1 << 4
SE, OS = 1 << 8, 1 << 9
BASE, SESSION = "MQMQ-2.2.19.1-", "MQMQ-2.2.20.4-"


def add(name: str, breaks: str | Iterable[str], says: str, install: Install) -> None:
    """Register a fault of the headers."""
    registry.add(f"header-{name}", breaks, says, install)


def _ignored_bits() -> None:
    bits = {
        "InternalHeader": {f"X{bit}": f"MQQB-2.2.1-{bit + 2:02d}" for bit in range(5, 16)},
        "EstablishConnectionHeader": {f"X{bit}": f"MQQB-2.2.3.1-{bit - 2:02d}" for bit in range(11, 16)},
        "BaseHeader": {"X9": f"{BASE}10", "X8": f"{BASE}11"}
        | {f"X{6 - number}": f"{BASE}{14 + number}" for number in range(7)},
    }
    names = {"InternalHeader": "internal", "EstablishConnectionHeader": "operating-system", "BaseHeader": "base"}
    for header, rules in bits.items():
        for bit, rule in rules.items():
            name = f"{names[header]}-flag-{bit.lower()}-refused"
            add(name, rule, f"A packet with {header} {bit} set is refused.", refuse(f"{header}.{bit}"))


def _ignored_fields() -> None:
    for name, rule, path in (
        ("internal-reserved-refused", "MQQB-2.2.1-01", "InternalHeader.Reserved"),
        ("parameters-reserved-refused", "MQQB-2.2.2.1-01", "ConnectionParametersHeader.Reserved"),
        ("establish-reserved-refused", "MQQB-2.2.3.1-14", "EstablishConnectionHeader.Reserved"),
        ("base-reserved-refused", f"{BASE}02", "BaseHeader.Reserved"),
        ("session-reserved-refused", f"{SESSION}13", "SessionHeader.Reserved"),
    ):
        add(name, rule, f"A packet whose {path} is not zero is refused.", refuse(path))


def _sent_fields() -> None:
    for name, rules, says, install in (
        (
            "internal-reserved-sent",
            "MQQB-2.2.1-01",
            "InternalHeader.Reserved is sent as 0xBEEF.",
            wrong_fields(PARAMETERS, {"InternalHeader.Reserved": 0xBEEF}),
        ),
        (
            "parameters-reserved-sent",
            "MQQB-2.2.2.1-01",
            "ConnectionParametersHeader.Reserved is sent as 0xBEEF.",
            wrong_fields(PARAMETERS, {"ConnectionParametersHeader.Reserved": 0xBEEF}),
        ),
        (
            "establish-reserved-sent",
            "MQQB-2.2.3.1-14",
            "EstablishConnectionHeader.Reserved is sent as 0xBEEF.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.Reserved": 0xBEEF}),
        ),
        (
            "establish-response-padding-empty",
            ("MQQB-2.2.3.1-15", "MQQB-3.1.5.3.1-12"),
            "The padding of a response is zeros.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.Padding": bytes(512)}),
        ),
        (
            "establish-operating-system-re",
            ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
            "RE is 0x11.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.OperatingSystem": lambda old: old + 1}),
        ),
        (
            "packet-type-unknown",
            "MQQB-2.2.1-02",
            "A ConnectionParameters has PT 7.",
            wrong_bytes(PARAMETERS, byte(PT_AT, lambda old: old | 7)),
        ),
        (
            "parameters-in-clear",
            "MQQB-2.2.2-01",
            "A ConnectionParameters has IN clear.",
            wrong_bytes(PARAMETERS, byte(FLAGS_AT, lambda old: old & ~IN)),
        ),
        (
            "parameters-packet-type",
            "MQQB-2.2.2-02",
            "A ConnectionParameters has PT 2.",
            wrong_bytes(PARAMETERS, byte(PT_AT, lambda old: old & 0xF0 | 2)),
        ),
        (
            "establish-in-clear",
            ("MQQB-2.2.3-01", f"{BASE}05"),
            "An EstablishConnection has IN clear.",
            wrong_bytes(ESTABLISH, byte(FLAGS_AT, lambda old: old & ~IN)),
        ),
        (
            "establish-packet-type",
            "MQQB-2.2.3-02",
            "An EstablishConnection has PT 3.",
            wrong_bytes(ESTABLISH, byte(PT_AT, lambda old: old & 0xF0 | 3)),
        ),
        (
            "session-ack-sh-clear",
            "MQQB-2.2.6-01",
            "A SessionAck has SH clear.",
            wrong_bytes(ACK, byte(FLAGS_AT, lambda old: old & ~SH)),
        ),
        (
            "session-ack-packet-type",
            "MQQB-2.2.6-02",
            "A SessionAck has PT 3.",
            wrong_bytes(ACK, byte(PT_AT, lambda old: old & 0xF0 | 3)),
        ),
        (
            "session-ack-refuses",
            "MQQB-2.2.1-04",
            "A SessionAck has CS set.",
            wrong_fields(ACK, {"InternalHeader.Flags": lambda old: old | CS}),
        ),
        (
            "establish-response-wrong-guid-accepted",
            "MQQB-2.2.1-05",
            "A request for another queue manager is answered with CS clear.",
            wrong_fields(ESTABLISH, {"InternalHeader.Flags": lambda old: old & ~CS}),
        ),
        (
            "establish-request-server-guid",
            "MQQB-2.2.3.1-01",
            "A request has the initiator's own GUID as ServerGuid.",
            packets(
                ESTABLISH,
                lambda packet: replace(
                    packet,
                    EstablishConnectionHeader=replace(
                        packet.EstablishConnectionHeader, ServerGuid=packet.EstablishConnectionHeader.ClientGuid
                    ),
                ).build(),
                _is_request_of_initiator,
            ),
        ),
        (
            "establish-response-server-guid",
            "MQQB-2.2.3.1-02",
            "A response has the initiator's GUID as ServerGuid.",
            packets(
                ESTABLISH,
                lambda packet: replace(
                    packet,
                    EstablishConnectionHeader=replace(
                        packet.EstablishConnectionHeader, ServerGuid=packet.EstablishConnectionHeader.ClientGuid
                    ),
                ).build(),
            ),
        ),
        (
            "establish-request-session-flag",
            "MQQB-2.2.3.1-05",
            "A request has SE 0 although no ping was sent.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.OperatingSystem": lambda old: old & ~SE}),
        ),
        (
            "establish-response-session-flag",
            "MQQB-2.2.3.1-06",
            "A response has the other SE.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.OperatingSystem": lambda old: old ^ SE}),
        ),
        (
            "establish-request-operating-system",
            "MQQB-2.2.3.1-07",
            "A request tells the other kind of operating system.",
            wrong_fields(ESTABLISH, {"EstablishConnectionHeader.OperatingSystem": lambda old: old ^ OS}),
        ),
        (
            "base-version",
            f"{BASE}01",
            "VersionNumber is 0x11.",
            wrong_bytes(ACK, byte(VERSION_AT, lambda old: 0x11)),
        ),
        (
            "base-signature",
            (f"{BASE}21", "MQQB-2.1.1-01"),
            "Signature begins with another letter.",
            wrong_bytes(ACK, byte(SIGNATURE_AT, lambda old: old ^ 1)),
        ),
        (
            "base-packet-size",
            f"{BASE}22",
            "PacketSize of a ConnectionParameters counts 4 bytes too few.",
            wrong_bytes(PARAMETERS, byte(8, lambda old: old - 4)),
        ),
        (
            "session-ack-without-header",
            f"{BASE}07",
            "A SessionAck has SH set but no SessionHeader.",
            packets(ACK, lambda packet: packet.build()[:8] + (20).to_bytes(4, "little") + packet.build()[12:20]),
        ),
        (
            "session-ack-debug-flag",
            f"{BASE}08",
            "A SessionAck has DH set.",
            wrong_fields(ACK, {"BaseHeader.Flags": lambda old: old | DH}),
        ),
        (
            "message-debug-flag",
            (f"{BASE}09", "MQMQ-2.2.20-06"),
            "A message has DH set but no DebugHeader.",
            wrong_bytes(MESSAGE, byte(FLAGS_AT, lambda old: old | DH)),
        ),
        (
            "message-traced-without-debug-header",
            f"{BASE}13",
            "A message has TR set and DH clear.",
            wrong_fields(MESSAGE, {"BaseHeader.Flags": lambda old: old | TR}),
        ),
        (
            "internal-packet-expires",
            f"{BASE}25",
            "TimeToReachQueue of a SessionAck is an hour.",
            wrong_fields(ACK, {"BaseHeader.TimeToReachQueue": 3600}),
        ),
    ):
        add(name, rules, says, install)


def _session_header() -> None:
    def header(**changes: Any) -> Install:
        return wrong_fields(ACK, {f"SessionHeader.{name}": change for name, change in changes.items()})

    for name, numbers, says, install in (
        ("session-ack-one-too-few", ("01", "02", "05"), "Counts one too few.", header(AckSequenceNumber=_less)),
        ("session-ack-begins-with-0", ("03",), "Counts from 0.", header(AckSequenceNumber=_less)),
        (
            "session-ack-flags-shifted",
            ("08",),
            "Bits are one too low.",
            header(RecoverableMsgAckFlags=lambda n: n >> 1),
        ),
        ("session-ack-sent-count", ("09",), "Sent is one more.", header(UserMsgSequenceNumber=_more)),
        (
            "session-ack-sent-recoverable-count",
            ("10", "11"),
            "Sent recoverable is one more.",
            header(RecoverableMsgSeqNumber=_more),
        ),
        ("session-ack-window", ("12",), "WindowSize is 1.", header(WindowSize=1)),
        (
            "session-ack-lowest-recoverable",
            ("04", "06", "07"),
            "The lowest recoverable number is one more.",
            header(RecoverableMsgAckSeqNumber=_more),
        ),
    ):
        add(name, [f"{SESSION}{number}" for number in numbers], says, install)


def _more(value: int) -> int:
    return value + 1 & 0xFFFF


def _less(value: int) -> int:
    return value - 1 & 0xFFFF


def _is_request_of_initiator(packet: EstablishConnectionPacket) -> bool:
    # The reference fills the padding of requests too; a response of the acceptor never has a zero ServerGuid.
    return packet.EstablishConnectionHeader.ServerGuid.int == 0


_ignored_bits()
_ignored_fields()
_sent_fields()
_session_header()
