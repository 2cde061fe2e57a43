"""Faults of MS-MQQB 2.2.7 Ping Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.datagrams import received_datagrams
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

RF = PingPacket.flags(RF=1)
ROOM_FOR = 4
SIGNATURE = PingPacket.Signature.to_bytes(2, "little")
SWAPPED_SIGNATURE = 0x4855
COOKIE = slice(4, 8)


def _flags(data: bytes) -> int:
    return int.from_bytes(data[:2], "little")


def _unanswered(refused: Callable[[int], bool]) -> Callable[[bytes], bytes | None]:
    """Drop datagrams by their Flags."""
    return lambda data: None if refused(_flags(data)) else data


def _only_bit(bit: int) -> Callable[[int], bool]:
    return lambda flags: flags == 1 << bit


def _refusal_if_unused(data: bytes) -> bytes:
    return bytes([data[0] | RF]) + data[1:] if _flags(data) >> 2 else data


def _any_signature(data: bytes) -> bytes:
    """Give a datagram the right Signature, whatever it had."""
    return data[:2] + SIGNATURE + data[4:]


# -- Flags ---------------------------------------------------------------------------------------------------------

for _name, _rule, _bit in (
    ("ping-request-unused-bit-2-matters", "MQQB-2.2.7-06", 2),
    ("ping-request-unused-bit-3-matters", "MQQB-2.2.7-07", 3),
    ("ping-request-unused-bit-4-matters", "MQQB-2.2.7-08", 4),
    ("ping-request-unused-bit-5-matters", "MQQB-2.2.7-09", 5),
    ("ping-request-unused-bit-6-matters", "MQQB-2.2.7-10", 6),
    ("ping-request-unused-bit-7-matters", "MQQB-2.2.7-11", 7),
    ("ping-request-unused-bit-8-matters", "MQQB-2.2.7-12", 8),
    ("ping-request-unused-bit-9-matters", "MQQB-2.2.7-13", 9),
    ("ping-request-unused-bit-10-matters", "MQQB-2.2.7-14", 10),
    ("ping-request-unused-bit-11-matters", "MQQB-2.2.7-15", 11),
    ("ping-request-unused-bit-12-matters", "MQQB-2.2.7-16", 12),
    ("ping-request-unused-bit-13-matters", "MQQB-2.2.7-17", 13),
    ("ping-request-unused-bit-14-matters", "MQQB-2.2.7-18", 14),
    ("ping-request-unused-bit-15-matters", "MQQB-2.2.7-19", 15),
):
    add(
        _name,
        _rule,
        f"A Ping Request with bit {_bit} of Flags set is not answered.",
        received_datagrams(PingSocket.LISTENER, _unanswered(_only_bit(_bit))),
    )

add(
    "ping-request-unused-bits-refused",
    "MQQB-2.2.7-01",
    "A Ping Request with all unused flags set is not answered.",
    received_datagrams(PingSocket.LISTENER, _unanswered(lambda flags: flags >> 2 == 0x3FFF)),
)
add(
    "ping-response-unused-bits-refused",
    "MQQB-2.2.7-01",
    "A Ping Response with unused flags set counts as a refusal.",
    received_datagrams(PingSocket.SOURCE, _refusal_if_unused),
)
add(
    "ping-request-type-flipped",
    "MQQB-2.2.7-02",
    "RC of a Ping Request is set by a server.",
    sent_as("initiator", bit_inverted(PingPacket, "RC")),
)
add(
    "ping-response-type-set",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "RC is set in every Ping Response.",
    sent_as("acceptor", bit_set(PingPacket, "RC")),
)
add(
    "ping-response-refuses",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "RF is set in every Ping Response, though sessions are accepted.",
    sent_as("acceptor", bit_set(PingPacket, "RF")),
)


class _FewSessions(Connecting):
    """Only so many sessions are accepted."""

    def is_session_acceptable(self) -> bool:
        waiting = SessionState.WAITING_EC_MSG
        accepted = (not one.initiator and one.SessionState is not waiting for one in self.qm.sessions.values())
        return sum(accepted) < ROOM_FOR


add(
    "ping-response-never-refuses",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "With room for four sessions, RF is clear in every Ping Response, though the fifth session is refused.",
    both(replace_part(_FewSessions), sent_as("acceptor", bit_clear(PingPacket, "RF"))),
)

# -- Signature and Cookie ------------------------------------------------------------------------------------------

add(
    "ping-request-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.6-07"),
    "Signature of a Ping Request is 0x4855.",
    sent_as("initiator", field_is(PingPacket, "Signature", SWAPPED_SIGNATURE)),
)
add(
    "ping-request-any-signature",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.7-03"),
    "A Ping Request is answered whatever its Signature.",
    received_datagrams(PingSocket.LISTENER, _any_signature),
)
add(
    "ping-response-any-signature",
    ("MQQB-2.2.7-21", "MQQB-3.1.7.8-03"),
    "A Ping Response is taken whatever its Signature.",
    received_datagrams(PingSocket.SOURCE, _any_signature),
)


@fault("ping-response-any-cookie", breaks=("MQQB-2.2.7-23", "MQQB-3.1.7.8-04"))
class AnyCookieTaken(Ping):
    """A Ping Response is taken whatever its Cookie."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[: COOKIE.start] + cookie + data[COOKIE.stop :], now)


# -- the whole -----------------------------------------------------------------------------------------------------

add(
    "ping-response-guid-before-cookie",
    "MQQB-2.2.7-D01",
    "QMGuid of a Ping Response stands before Cookie.",
    sent_as("acceptor", pings(lambda packet: (data := packet.build())[:4] + data[8:] + data[4:8])),
)
add(
    "ping-response-longer",
    "MQQB-2.2.7-D01",
    "A Ping Response has 28 bytes.",
    sent_as("acceptor", pings(lambda packet: packet.build() + bytes(4))),
)


@fault("cookie-loses-its-highest-bit", breaks="MQQB-2.2.7-22", blind=True)
class CookieLosesItsHighestBit(Ping):
    """A Cookie is kept as a signed number: its highest bit is lost."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie & 0x7FFFFFFF)


@fault("refusal-foretold-for-ever", breaks=("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"), blind=True)
class RefusalForetoldForEver(Ping):
    """Once a Ping Response had RF set, all after it have."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._flags = 0

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self._flags |= response.Flags & PingPacket.flags(RF=1)
        return replace(response, Flags=response.Flags | self._flags)
