"""Faults of MS-MQQB 2.2.1 InternalHeader."""

from __future__ import annotations

from harness.faults.fields import add_refusals, bit_clear, bit_set, field_is
from harness.faults.parts import fault
from harness.faults.primitives import set_fields, silent_after, wrong_bytes
from harness.faults.registry import add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    SessionAckPacket,
)
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

add_refusals(
    SessionAckPacket,
    ("receiver-internal-header-reserved-refused", "MQQB-2.2.1-01", "InternalHeader.Reserved"),
    ("receiver-internal-header-x5-refused", "MQQB-2.2.1-07", "InternalHeader.X5"),
    ("receiver-internal-header-x6-refused", "MQQB-2.2.1-08", "InternalHeader.X6"),
    ("receiver-internal-header-x7-refused", "MQQB-2.2.1-09", "InternalHeader.X7"),
    ("receiver-internal-header-x8-refused", "MQQB-2.2.1-10", "InternalHeader.X8"),
    ("receiver-internal-header-x9-refused", "MQQB-2.2.1-11", "InternalHeader.X9"),
    ("receiver-internal-header-x10-refused", "MQQB-2.2.1-12", "InternalHeader.X10"),
    ("receiver-internal-header-x11-refused", "MQQB-2.2.1-13", "InternalHeader.X11"),
    ("receiver-internal-header-x12-refused", "MQQB-2.2.1-14", "InternalHeader.X12"),
    ("receiver-internal-header-x13-refused", "MQQB-2.2.1-15", "InternalHeader.X13"),
    ("receiver-internal-header-x14-refused", "MQQB-2.2.1-16", "InternalHeader.X14"),
    ("receiver-internal-header-x15-refused", "MQQB-2.2.1-17", "InternalHeader.X15"),
)

add(
    "any-connection-parameters-internal-reserved-not-zero",
    "MQQB-2.2.1-01",
    "A queue manager sends a ConnectionParameters packet with InternalHeader.Reserved 0xBEEF.",
    field_is(ConnectionParametersPacket, "InternalHeader.Reserved", 0xBEEF),
)
add(
    "any-connection-parameters-pt-unknown",
    "MQQB-2.2.1-02",
    "A queue manager sends a ConnectionParameters packet with PT 7.",
    field_is(ConnectionParametersPacket, "InternalHeader.PT", 7),
)


@fault(
    "receiver-unknown-pt-session-kept",
    breaks=("MQQB-2.2.1-03", "MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1.1-03"),
)
class ReceiverUnknownPtSessionKept(Closing):
    """A queue manager that receives an internal packet with an unknown PT keeps the session open."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if error.field != "InternalHeader.PT":
            super().refuse_malformed(session, error, now)


add(
    "receiver-ignores-session-after-unknown-pt",
    "MQQB-2.2.1-03",
    "The receiver of an internal packet with an unknown PT closes the session and never answers another packet.",
    silent_after(
        Closing.refuse_malformed,
        lambda *arguments: any(getattr(one, "field", None) == "InternalHeader.PT" for one in arguments),
    ),
)
add(
    "receiver-session-ack-cs-set",
    "MQQB-2.2.1-04",
    "The receiver sends a SessionAck with CS set.",
    bit_set(SessionAckPacket, "InternalHeader.CS"),
)
add(
    "acceptor-request-for-other-guid-accepted",
    "MQQB-2.2.1-05",
    "The acceptor answers an EstablishConnection request for another queue manager with CS clear.",
    bit_clear(EstablishConnectionPacket, "InternalHeader.CS"),
)
add(
    "receiver-session-ack-flags-before-reserved",
    "MQQB-2.2.1-D01",
    "The receiver sends a SessionAck with Flags before Reserved in its InternalHeader.",
    wrong_bytes(SessionAckPacket, lambda data: data[:16] + data[18:20] + data[16:18] + data[20:]),
)
add(
    "acceptor-establish-connection-refusal-in-bit-5",
    "MQQB-2.2.1-D01",
    "The acceptor refuses a session with bit 5 of InternalHeader.Flags set instead of bit 4 (CS).",
    wrong_bytes(
        EstablishConnectionPacket,
        lambda data: data[:18] + bytes([data[18] & ~0x10 | (data[18] & 0x10) << 1]) + data[19:],
    ),
)


@fault("acceptor-session-beyond-limit-closed-without-cs", breaks="MQQB-2.2.1-06")
class AcceptorSessionBeyondLimitClosedWithoutCs(SessionOpening):
    """The acceptor clears CS in its response to a request beyond its limit of sessions, and closes the connection."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if self.qm.connecting.is_session_acceptable():
            return response
        accepting: EstablishConnectionPacket = set_fields(response, {"InternalHeader.Flags": lambda old: old & ~0x10})
        return accepting
