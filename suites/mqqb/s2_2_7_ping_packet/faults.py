"""Faults that break rules of MS-MQQB 2.2.7 Ping Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams
from harness.faults.fields import clear_bits, invert_bits, limit_to_sender_role, set_bits, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_pings, combine_installers, set_fields
from harness.faults.registry import add
from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent, SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint, PingSocket


def _read_ping_flags(data: bytes) -> int:
    return int.from_bytes(data[:2], "little")


def _drop_pings_by_flags(refused: Callable[[int], bool]) -> Callable[[bytes], bytes | None]:
    """Return a filter that drops a datagram if the given predicate refuses its Flags."""
    return lambda data: None if refused(_read_ping_flags(data)) else data


add(
    "acceptor-ping-request-with-all-unused-flags-ignored",
    "MQQB-2.2.7-01",
    "The acceptor does not answer a Ping Request with all unused flags set.",
    change_received_datagrams(PingSocket.LISTENER, _drop_pings_by_flags(lambda flags: flags >> 2 == 0x3FFF)),
)


REFUSAL_BIT_RF_OF_PING_FLAGS = PingPacket.flags(RF=1)


def _set_rf_if_unused_flags_set(data: bytes) -> bytes:
    return bytes([data[0] | REFUSAL_BIT_RF_OF_PING_FLAGS]) + data[1:] if _read_ping_flags(data) >> 2 else data


add(
    "initiator-ping-response-with-unused-flags-taken-as-refusal",
    "MQQB-2.2.7-01",
    "The initiator treats a Ping Response with an unused flag set as a refusal.",
    change_received_datagrams(PingSocket.SOURCE, _set_rf_if_unused_flags_set),
)


@fault("initiator-ping-response-with-bit-15-ignored", breaks="MQQB-2.2.7-01", blind=True)
class InitiatorPingResponseWithBit15Ignored(PingHandling):
    """The initiator ignores a Ping Response with bit 15 of Flags set."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if not response.Flags & 0x8000:
            super().on_ping_response_processed(session, response, now)


@fault("initiator-ping-response-with-bit-2-taken-as-refusal", breaks="MQQB-2.2.7-01", blind=True)
class InitiatorPingResponseWithBit2TakenAsRefusal(PingHandling):
    """The initiator treats a Ping Response with bit 2 of Flags set as a refusal."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.Flags & 4:
            response = set_fields(response, {"Flags": lambda old: old | 2})
        super().on_ping_response_processed(session, response, now)


@fault("acceptor-ping-request-with-bit-9-refused", breaks="MQQB-2.2.7-01", blind=True)
class AcceptorPingRequestWithBit9Refused(PingHandling):
    """The acceptor sets RF in the response to a Ping Request with bit 9 of Flags set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return set_fields(response, {"Flags": lambda old: old | 2}) if request.Flags & 0x200 else response


add(
    "initiator-ping-response-with-unused-bit-15-ignored",
    "MQQB-2.2.7-01",
    "The initiator ignores a Ping Response in which bit 15 of Flags is set.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: None if data[1:2] >= b"\x80" else data),
)


add(
    "initiator-ping-request-rc-inverted",
    "MQQB-2.2.7-02",
    "The initiator's Ping Request has RC inverted: a server sets RC.",
    limit_to_sender_role("initiator", invert_bits(PingPacket, "RC")),
)


add(
    "acceptor-ping-response-rc-always-set",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "The acceptor sets RC in every Ping Response.",
    limit_to_sender_role("acceptor", set_bits(PingPacket, "RC")),
)


@fault("acceptor-refusing-ping-response-rc-clear", breaks="MQQB-2.2.7-03", blind=True)
class AcceptorRefusingPingResponseRcClear(PingHandling):
    """The acceptor clears RC in a Ping Response whose RF is set, even if RC of the Ping Request is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=PingPacket.flags(RC=0, RF=1)) if response.RF else response


@fault("acceptor-copies-rc-of-first-ping-request-to-every-response", breaks="MQQB-2.2.7-03")
class AcceptorCopiesRcOfFirstPingRequestToEveryResponse(PingHandling):
    """The acceptor copies RC of the first Ping Request to every Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        first = self.__dict__.setdefault("first", request.RC)
        response = super().build_response(request)
        return replace(response, Flags=response.Flags & ~1 | first)


add(
    "acceptor-ping-response-rf-always-set",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "The acceptor sets RF in every Ping Response, although it accepts sessions.",
    limit_to_sender_role("acceptor", set_bits(PingPacket, "RF")),
)


LIMIT_OF_ACCEPTED_SESSIONS = 4


class _AcceptedSessionLimit(SessionConnecting):
    """The acceptor accepts only a limited number of sessions."""

    def is_session_acceptable(self) -> bool:
        waiting = SessionState.WAITING_EC_MSG
        accepted = (not one.initiator and one.SessionState is not waiting for one in self.qm.sessions.values())
        return sum(accepted) < LIMIT_OF_ACCEPTED_SESSIONS


add(
    "acceptor-ping-response-rf-always-clear",
    ("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"),
    "The acceptor clears RF in every Ping Response, although it refuses the fifth session.",
    combine_installers(
        replace_part(_AcceptedSessionLimit), limit_to_sender_role("acceptor", clear_bits(PingPacket, "RF"))
    ),
)


@fault("acceptor-ping-response-rf-set-after-first-refusal", breaks=("MQQB-2.2.7-04", "MQQB-3.1.7.7-05"), blind=True)
class AcceptorPingResponseRfSetAfterFirstRefusal(PingHandling):
    """After the first Ping Response with RF set, the acceptor sets RF in every Ping Response."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._flags = 0

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self._flags |= response.Flags & PingPacket.flags(RF=1)
        return replace(response, Flags=response.Flags | self._flags)


@fault("acceptor-ping-response-rf-clear-while-offline", breaks="MQQB-2.2.7-04", blind=True)
class AcceptorPingResponseRfClearWhileOffline(PingHandling):
    """The acceptor clears RF in a Ping Response while it is offline and refuses every session."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return response if self.qm.adm.ConnectionActive else replace(response, Flags=PingPacket.flags(RC=response.RC))


@fault("acceptor-sets-rf-in-every-ping-response-after-a-refusal", breaks="MQQB-2.2.7-04")
class AcceptorSetsRfInEveryPingResponseAfterARefusal(PingHandling):
    """After the acceptor has refused one session, it sets RF in every Ping Response, even when it would accept another
    session.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        self.__dict__["full"] = self.__dict__.get("full", 0) | response.RF
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=self.__dict__["full"]))


@fault("acceptor-ping-response-rf-clear-offline", breaks="MQQB-2.2.7-04")
class AcceptorPingResponseRfClearOffline(PingHandling):
    """The acceptor leaves RF clear in a Ping Response while it is offline."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if self.qm.adm.ConnectionActive:
            return response
        return replace(response, Flags=response.Flags & ~PingPacket.flags(RF=1))


@fault("acceptor-ping-response-rf-copied-from-request", breaks="MQQB-2.2.7-04")
class AcceptorPingResponseRfCopiedFromRequest(PingHandling):
    """The acceptor sets RF in the response to a Ping Request in which RF is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=request.RF))


@fault("initiator-rf-set-in-ping-request-with-even-cookie", breaks="MQQB-2.2.7-05", blind=True)
class InitiatorRfSetInPingRequestWithEvenCookie(PingHandling):
    """The initiator sets RF in each Ping Request whose Cookie is even."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return set_fields(request, {"Flags": lambda old: old | 2}) if request.Cookie % 2 == 0 else request


def _make_single_ping_flag_condition(bit: int) -> Callable[[int], bool]:
    return lambda flags: flags == 1 << bit


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
        change_received_datagrams(PingSocket.LISTENER, _drop_pings_by_flags(_make_single_ping_flag_condition(_bit))),
    )


BYTE_SWAPPED_PING_SIGNATURE = 0x4855


add(
    "initiator-ping-request-signature-bytes-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.6-07"),
    "The initiator's Ping Request has Signature 0x4855, which is the correct Signature with its bytes swapped.",
    limit_to_sender_role("initiator", set_field_value(PingPacket, "Signature", BYTE_SWAPPED_PING_SIGNATURE)),
)


def _swap_bytes_of_ping_signature(packet: PingPacket) -> bytes:
    data = packet.build()
    return data[:2] + data[3:1:-1] + data[4:]


add(
    "acceptor-signature-of-refusing-ping-response-swapped",
    "MQQB-2.2.7-20",
    "The acceptor sends a Ping Response with RF set whose Signature is in big-endian order.",
    change_pings(_swap_bytes_of_ping_signature, lambda packet: bool(packet.RF)),
    blind=True,
)


CORRECT_SIGNATURE_BYTES = PingPacket.Signature.to_bytes(2, "little")


def _correct_ping_signature(data: bytes) -> bytes:
    """Replace the Signature of a datagram by the correct Signature."""
    return data[:2] + CORRECT_SIGNATURE_BYTES + data[4:]


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


def _make_signature_correction(accepted: int) -> Callable[[bytes], bytes]:
    def correct_signature(data: bytes) -> bytes:
        found = int.from_bytes(data[2:4], "little")
        return data[:2] + b"\x48\x55" + data[4:] if len(data) == 24 and found == accepted else data

    return correct_signature


add(
    "acceptor-ping-request-signature-of-swapped-bytes-accepted",
    "MQQB-2.2.7-21",
    "The acceptor answers a Ping Request whose Signature is 0x4855.",
    change_received_datagrams(PingSocket.LISTENER, _make_signature_correction(0x4855)),
)


add(
    "initiator-ping-response-signature-0-accepted",
    "MQQB-2.2.7-21",
    "The initiator accepts a Ping Response whose Signature is 0.",
    change_received_datagrams(PingSocket.SOURCE, _make_signature_correction(0)),
)


@fault("acceptor-ping-response-cookie-highest-bit-cleared", breaks=("MQQB-2.2.7-22", "MQQB-3.1.7.7-08"), blind=True)
class AcceptorPingResponseCookieHighestBitCleared(PingHandling):
    """The acceptor clears the highest bit of Cookie in its Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie & 0x7FFFFFFF)


@fault("acceptor-repeats-cookie-of-first-ping-request-of-host", breaks="MQQB-2.2.7-22")
class AcceptorRepeatsCookieOfFirstPingRequestOfHost(PingHandling):
    """The acceptor sends the Cookie of the first request of a host in every Ping Response for this host."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        self.__dict__["host"] = remote
        super().receive_request(remote, data)

    def build_response(self, request: PingPacket) -> PingPacket:
        cookies = self.__dict__.setdefault("cookies", {})
        return replace(
            super().build_response(request), Cookie=cookies.setdefault(self.__dict__["host"], request.Cookie)
        )


@fault("acceptor-answers-ping-cookie-0xffffffff-with-cookie-0", breaks="MQQB-2.2.7-22")
class AcceptorAnswersPingCookie0xffffffffWithCookie0(PingHandling):
    """The acceptor sends Cookie 0 in the response to a request with Cookie 0xFFFFFFFF."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=0) if request.Cookie == 0xFFFFFFFF else response


COOKIE_SLICE = slice(4, 8)


@fault("initiator-ping-response-with-wrong-cookie-accepted", breaks=("MQQB-2.2.7-23", "MQQB-3.1.7.8-04"))
class InitiatorPingResponseWithWrongCookieAccepted(PingHandling):
    """The initiator accepts a Ping Response with a wrong Cookie."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        super().receive_response(data[: COOKIE_SLICE.start] + cookie + data[COOKIE_SLICE.stop :], now)


@fault("initiator-ping-response-cookie-compared-by-low-16-bits", breaks="MQQB-2.2.7-23", blind=True)
class InitiatorPingResponseCookieComparedByLow16Bits(PingHandling):
    """The initiator accepts a Ping Response whose Cookie equals PingCookie only in its low 16 bits."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie.to_bytes(4, "little")
        if data[4:6] == cookie[:2]:
            data = data[:4] + cookie + data[8:]
        super().receive_response(data, now)


@fault("initiator-accepts-ping-response-with-lower-cookie", breaks="MQQB-2.2.7-23")
class InitiatorAcceptsPingResponseWithLowerCookie(PingHandling):
    """The initiator accepts a Ping Response whose Cookie is lower than the Cookie of its latest Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        try:
            cookie = parse_ping(data).Cookie
        except FormatError:
            return
        latest = self.qm.adm.PingCookie
        super().receive_response(data, now)
        if cookie < latest:
            for session in list(self.qm.sessions.values()):
                if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE and session.ping_cookie == latest:
                    self.on_ping_response_processed(session, parse_ping(data), now)
                    return


@fault("initiator-response-compared-by-low-16-bits-of-cookie", breaks="MQQB-2.2.7-23")
class InitiatorResponseComparedByLow16BitsOfCookie(PingHandling):
    """The initiator compares only the low 16 bits of Cookie of a Ping Response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if len(data) == 24 and int.from_bytes(data[4:6], "little") == self.qm.adm.PingCookie & 0xFFFF:
            data = data[:4] + self.qm.adm.PingCookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


add(
    "acceptor-ping-response-qm-guid-before-cookie",
    "MQQB-2.2.7-D01",
    "The acceptor's Ping Response has QMGuid before Cookie.",
    limit_to_sender_role("acceptor", change_pings(lambda packet: (data := packet.build())[:4] + data[8:] + data[4:8])),
)


add(
    "acceptor-ping-response-28-bytes",
    "MQQB-2.2.7-D01",
    "The acceptor's Ping Response has 28 bytes instead of 24.",
    limit_to_sender_role("acceptor", change_pings(lambda packet: packet.build() + bytes(4))),
)


add(
    "acceptor-refusing-ping-response-of-23-bytes",
    "MQQB-2.2.7-D01",
    "The acceptor sends a Ping Response with RF set that has 23 bytes.",
    change_pings(lambda packet: packet.build()[:23], lambda packet: bool(packet.RF)),
    blind=True,
)


@fault("acceptor-ping-response-rf-sent-in-bit-2", breaks="MQQB-2.2.7-D01", blind=True)
class AcceptorPingResponseRfSentInBit2(PingHandling):
    """The acceptor sends the flag RF of a Ping Response in bit 2 instead of bit 1."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return set_fields(response, {"Flags": lambda old: old & 1 | (old & 2) << 1})


UNUSED_BIT_10 = 1 << 10


PING_PACKET_SIZE = 24


@fault("acceptor-ping-response-rc-clear-if-request-has-rc-and-bit-10", breaks="MQQB-2.2.7-14", blind=True)
class AcceptorPingResponseRcClearIfRequestHasRcAndBit10(PingHandling):
    """The acceptor does not copy RC into the Ping Response if bit 10 of Flags in the Ping Request is also set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags & ~1) if request.Flags & UNUSED_BIT_10 else response


@fault("initiator-ping-response-with-wrong-signature-ends-attempt", breaks="MQQB-2.2.7-21", blind=True)
class InitiatorPingResponseWithWrongSignatureEndsAttempt(PingHandling):
    """The initiator ends the attempt to connect when a Ping Response with a wrong Signature and the right Cookie
    arrives.
    """

    def receive_response(self, data: bytes, now: Now) -> None:
        signature, cookie = int.from_bytes(data[2:4], "little"), int.from_bytes(data[4:8], "little")
        if len(data) == PING_PACKET_SIZE and signature != PingPacket.Signature:
            for session in list(self.qm.sessions.values()):
                if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE and session.ping_cookie == cookie:
                    self.on_response_timer(session, now)
        super().receive_response(data, now)
