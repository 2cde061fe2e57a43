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
    ("header-internal-reserved-refused", "MQQB-2.2.1-01", "InternalHeader.Reserved"),
    ("header-internal-flag-x5-refused", "MQQB-2.2.1-07", "InternalHeader.X5"),
    ("header-internal-flag-x6-refused", "MQQB-2.2.1-08", "InternalHeader.X6"),
    ("header-internal-flag-x7-refused", "MQQB-2.2.1-09", "InternalHeader.X7"),
    ("header-internal-flag-x8-refused", "MQQB-2.2.1-10", "InternalHeader.X8"),
    ("header-internal-flag-x9-refused", "MQQB-2.2.1-11", "InternalHeader.X9"),
    ("header-internal-flag-x10-refused", "MQQB-2.2.1-12", "InternalHeader.X10"),
    ("header-internal-flag-x11-refused", "MQQB-2.2.1-13", "InternalHeader.X11"),
    ("header-internal-flag-x12-refused", "MQQB-2.2.1-14", "InternalHeader.X12"),
    ("header-internal-flag-x13-refused", "MQQB-2.2.1-15", "InternalHeader.X13"),
    ("header-internal-flag-x14-refused", "MQQB-2.2.1-16", "InternalHeader.X14"),
    ("header-internal-flag-x15-refused", "MQQB-2.2.1-17", "InternalHeader.X15"),
)

add(
    "header-internal-reserved-sent",
    "MQQB-2.2.1-01",
    "InternalHeader.Reserved is sent as 0xBEEF.",
    field_is(ConnectionParametersPacket, "InternalHeader.Reserved", 0xBEEF),
)
add(
    "header-packet-type-unknown",
    "MQQB-2.2.1-02",
    "A ConnectionParameters has PT 7.",
    field_is(ConnectionParametersPacket, "InternalHeader.PT", 7),
)


@fault(
    "header-unknown-packet-type-kept",
    breaks=("MQQB-2.2.1-03", "MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01", "MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1.1-03"),
)
class UnknownPacketTypeKept(Closing):
    """An unknown PT is overlooked."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        if error.field != "InternalHeader.PT":
            super().refuse_malformed(session, error, now)


add(
    "header-unknown-packet-type-is-the-end",
    "MQQB-2.2.1-03",
    "After an unknown PT the session is closed, and nothing is answered any more.",
    silent_after(
        Closing.refuse_malformed,
        lambda *arguments: any(getattr(one, "field", None) == "InternalHeader.PT" for one in arguments),
    ),
)
add(
    "header-session-ack-refuses",
    "MQQB-2.2.1-04",
    "A SessionAck has CS set.",
    bit_set(SessionAckPacket, "InternalHeader.CS"),
)
add(
    "header-establish-response-wrong-guid-accepted",
    "MQQB-2.2.1-05",
    "A request for another queue manager is answered with CS clear.",
    bit_clear(EstablishConnectionPacket, "InternalHeader.CS"),
)
add(
    "header-internal-flags-first",
    "MQQB-2.2.1-D01",
    "Flags of the InternalHeader of a SessionAck stands before Reserved.",
    wrong_bytes(SessionAckPacket, lambda data: data[:16] + data[18:20] + data[16:18] + data[20:]),
)
add(
    "header-internal-refusal-in-bit-5",
    "MQQB-2.2.1-D01",
    "An EstablishConnection refuses with bit 5 of Flags.",
    wrong_bytes(
        EstablishConnectionPacket,
        lambda data: data[:18] + bytes([data[18] & ~0x10 | (data[18] & 0x10) << 1]) + data[19:],
    ),
)


@fault("session-too-many-refused-without-cs", breaks="MQQB-2.2.1-06")
class SessionTooManyRefusedWithoutCs(SessionOpening):
    """A session beyond the limit is closed after a response that says nothing."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        response = super().build_establish_response(session, request)
        if self.qm.connecting.is_session_acceptable():
            return response
        accepting: EstablishConnectionPacket = set_fields(response, {"InternalHeader.Flags": lambda old: old & ~0x10})
        return accepting
