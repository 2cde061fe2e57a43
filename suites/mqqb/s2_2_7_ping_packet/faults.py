"""Faults of MS-MQQB 2.2.7 Ping Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams
from harness.faults.fields import bit_clear, bit_inverted, bit_set, field_is, sent_as
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both, pings
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.sessions.ping import Ping
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

RF_BIT = PingPacket.flags(RF=1)
SESSION_LIMIT = 4
SIGNATURE = PingPacket.Signature.to_bytes(2, "little")
SWAPPED_SIGNATURE = 0x4855
COOKIE_SLICE = slice(4, 8)


def _read_flags(data: bytes) -> int:
    return int.from_bytes(data[:2], "little")


def _drop_pings_by_flags(refused: Callable[[int], bool]) -> Callable[[bytes], bytes | None]:
    """Return a filter that drops a datagram if the given predicate refuses its Flags."""
    return lambda data: None if refused(_read_flags(data)) else data


def _has_only_bit(bit: int) -> Callable[[int], bool]:
    return lambda flags: flags == 1 << bit


def _refuse_unused_flags(data: bytes) -> bytes:
    return bytes([data[0] | RF_BIT]) + data[1:] if _read_flags(data) >> 2 else data


def _correct_ping_signature(data: bytes) -> bytes:
    """Replace the Signature of a datagram by the correct Signature."""
    return data[:2] + SIGNATURE + data[4:]


# -- Flags ---------------------------------------------------------------------------------------------------------

for _name, _rule, _bit in (
    ("acceptor-ping-request-with-unused-bit-2-ignored", "MQQB-2.2.7-06", 2),
    ("acceptor-ping-request-with-unused-bit-3-ignored", "MQQB-2.2.7-07", 3),
    ("acceptor-ping-request-with-unused-bit-4-ignored", "MQQB-2.2.7-08", 4),
    ("acceptor-ping-request-with-unused-bit-5-ignored", "MQQB-2.2.7-09", 5),
    ("acceptor-ping-request-with-unused-bit-6-ignored", "MQQB-2.2.7-10", 6),
    ("acceptor-ping-request-with-unused-bit-7-ignored", "MQQB-2.2.7-11", 7),
    ("acceptor-ping-request-with-unused-bit-8-ignored", "MQQB-2.2.7-12", 8),
    ("acceptor-ping-request-with-unused-bit-9-ignored", "MQQB-2.2.7-13", 9),
    ("acceptor-ping-request-with-unused-bit-10-ignored", "MQQB-2.2.7-14", 10),
    ("acceptor-ping-request-with-unused-bit-11-ignored", "MQQB-2.2.7-15", 11),
    ("acceptor-ping-request-with-unused-bit-12-ignored", "MQQB-2.2.7-16", 12),
    ("acceptor-ping-request-with-unused-bit-13-ignored", "MQQB-2.2.7-17", 13),
    ("acceptor-ping-request-with-unused-bit-14-ignored", "MQQB-2.2.7-18", 14),
    ("acceptor-ping-request-with-unused-bit-15-ignored", "MQQB-2.2.7-19", 15),
):
    add(
        _name,
        _rule,
        f"The acceptor does not answer a Ping Request with bit {_bit} of Flags set.",
        change_received_datagrams(PingSocket.LISTENER, _drop_pings_by_flags(_has_only_bit(_bit))),
    )

add(
    "acceptor-ping-request-with-all-unused-flags-ignored",
    "MQQB-2.2.7-01",
    "The acceptor does not answer a Ping Request with all unused flags set.",
    change_received_datagrams(PingSocket.LISTENER, _drop_pings_by_flags(lambda flags: flags >> 2 == 0x3FFF)),
)
add(
    "initiator-ping-response-with-unused-flags-taken-as-refusal",
    "MQQB-2.2.7-01",
    "The initiator treats a Ping Response with an unused flag set as a refusal.",
    change_received_datagrams(PingSocket.SOURCE, _refuse_unused_flags),
)
add(
    "initiator-ping-request-rc-inverted",
    "MQQB-2.2.7-02",
    "The initiator's Ping Request has RC inverted: a server sets RC.",
    sent_as("initiator", bit_inverted(PingPacket, "RC")),
)
add(
    "acceptor-ping-response-rc-always-set",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "The acceptor sets RC in every Ping Response.",
    sent_as("acceptor", bit_set(PingPacket, "RC")),
)
add(
    "acceptor-ping-response-rf-always-set",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "The acceptor sets RF in every Ping Response, although it accepts sessions.",
    sent_as("acceptor", bit_set(PingPacket, "RF")),
)


class _FewSessions(Connecting):
    """The acceptor accepts only a limited number of sessions."""

    def is_session_acceptable(self) -> bool:
        waiting = SessionState.WAITING_EC_MSG
        accepted = (not one.initiator and one.SessionState is not waiting for one in self.qm.sessions.values())
        return sum(accepted) < SESSION_LIMIT


add(
    "acceptor-ping-response-rf-always-clear",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "The acceptor clears RF in every Ping Response, although it refuses the fifth session.",
    both(replace_part(_FewSessions), sent_as("acceptor", bit_clear(PingPacket, "RF"))),
)

# -- Signature and Cookie ------------------------------------------------------------------------------------------

add(
    "initiator-ping-request-signature-bytes-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.6-07"),
    "The initiator's Ping Request has Signature 0x4855, which is the correct Signature with its bytes swapped.",
    sent_as("initiator", field_is(PingPacket, "Signature", SWAPPED_SIGNATURE)),
)
add(
    "acceptor-ping-request-with-wrong-signature-answered",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.7-03"),
    "The acceptor answers a Ping Request with a wrong Signature.",
    change_received_datagrams(PingSocket.LISTENER, _correct_ping_signature),
)
add(
    "initiator-ping-response-with-wrong-signature-accepted",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.8-03"),
    "The initiator accepts a Ping Response with a wrong Signature.",
    change_received_datagrams(PingSocket.SOURCE, _correct_ping_signature),
)


@fault("initiator-ping-response-with-wrong-cookie-accepted", breaks=("MQQB-2.2.7-23", "MQQB-3.1.7.8-04"))
class InitiatorPingResponseWithWrongCookieAccepted(Ping):
    """The initiator accepts a Ping Response with a wrong Cookie."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[: COOKIE_SLICE.start] + cookie + data[COOKIE_SLICE.stop :], now)


# -- the packet ----------------------------------------------------------------------------------------------------

add(
    "acceptor-ping-response-qm-guid-before-cookie",
    "MQQB-2.2.7-D01",
    "The acceptor's Ping Response has QMGuid before Cookie.",
    sent_as("acceptor", pings(lambda packet: (data := packet.build())[:4] + data[8:] + data[4:8])),
)
add(
    "acceptor-ping-response-28-bytes",
    "MQQB-2.2.7-D01",
    "The acceptor's Ping Response has 28 bytes instead of 24.",
    sent_as("acceptor", pings(lambda packet: packet.build() + bytes(4))),
)


@fault("acceptor-ping-response-cookie-highest-bit-cleared", breaks="MQQB-2.2.7-22", blind=True)
class AcceptorPingResponseCookieHighestBitCleared(Ping):
    """The acceptor clears the highest bit of Cookie in its Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie & 0x7FFFFFFF)


@fault("acceptor-ping-response-rf-set-after-first-refusal", breaks=("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"), blind=True)
class AcceptorPingResponseRfSetAfterFirstRefusal(Ping):
    """After the first Ping Response with RF set, the acceptor sets RF in every Ping Response."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._flags = 0

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self._flags |= response.Flags & PingPacket.flags(RF=1)
        return replace(response, Flags=response.Flags | self._flags)
