"""Faults that break rules of MS-MQQB 3.1.7.7 Receive Ping Request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.datagrams import change_sent_datagrams
from harness.faults.fields import clear_bits, limit_to_sender_role, set_field_value
from harness.faults.made_up import MADE_UP_GUID
from harness.faults.parts import change_step, fault
from harness.faults.primitives import change_pings, omit_step
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, FormatError, PingPacket, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.states import SessionState
from reference_qm.surface.inputs import Endpoint, PingSocket

add(
    "acceptor-ping-request-unanswered",
    "MQQB-3.1.7.7-01",
    "The acceptor does not answer a Ping Request.",
    omit_step(PingHandling.receive_request),
)


@fault("acceptor-ping-request-with-cookie-0-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithCookie0Unanswered(PingHandling):
    """The acceptor does not answer a Ping Request with Cookie 0."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data[4:8] != bytes(4):
            super().receive_request(remote, data)


@fault("acceptor-repeated-ping-request-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorRepeatedPingRequestUnanswered(PingHandling):
    """The acceptor does not answer a Ping Request that is identical to the previous Ping Request."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: tuple[Endpoint, bytes] | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        same = (remote, data) == self._before
        self._before = (remote, data)
        if not same:
            super().receive_request(remote, data)


@fault("acceptor-ping-request-during-session-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestDuringSessionUnanswered(PingHandling):
    """The acceptor does not answer a Ping Request while a session is open."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if not any(session.SessionState is SessionState.OPEN for session in self.qm.sessions.values()):
            super().receive_request(remote, data)


@fault("acceptor-ping-request-with-repeated-cookie-unanswered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithRepeatedCookieUnanswered(PingHandling):
    """The acceptor does not answer a Ping Request that has the same Cookie as the previous Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = b""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if data != self.last:
            super().receive_request(remote, data)
        self.last = data


@fault("acceptor-ping-request-of-null-guid-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestOfNullGuidNotAnswered(PingHandling):
    """The acceptor does not answer a Ping Request whose QMGuid is zero."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        try:
            null = parse_ping(data).QMGuid == NULL_GUID
        except FormatError:
            return
        if not null:
            super().receive_request(remote, data)


def _ignore_ping_from_other_port(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    first = self.__dict__.setdefault("first", remote)
    if remote == first:
        original(remote, data)


def _ignore_ping_after_malformed_one(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    if data[2:4] != b"\x48\x55" and len(data) >= 4:
        self.__dict__["malformed"] = True
    elif self.__dict__.pop("malformed", False):
        return
    original(remote, data)


def _ignore_every_third_ping(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    self.__dict__["count"] = count = self.__dict__.get("count", 0) + 1
    if count % 3:
        original(remote, data)


def _answer_ping_at_port_of_first_request(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    ports = self.__dict__.setdefault("ports", {})
    original(remote._replace(port=ports.setdefault(remote[0], remote[1])), data)


def _answer_previous_sender_again(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
    original(remote, data)
    previous = self.__dict__.get("previous")
    if previous is not None and previous != remote:
        original(previous, data)
    self.__dict__["previous"] = remote


def _accept_other_ping_signature(signature: bytes) -> Install:
    def run(self: Any, original: Any, remote: Endpoint, data: bytes) -> None:
        if data[2:4] == signature:
            data = data[:2] + b"\x48\x55" + data[4:]
        original(remote, data)

    return change_step(PingHandling.receive_request, run)


def _change_ping_response(change: Any) -> Install:
    def run(self: Any, original: Any, request: PingPacket) -> PingPacket:
        changed: PingPacket = change(self, request, original(request))
        return changed

    return change_step(PingHandling.build_response, run)


def _repeat_field_of_first_ping_response(field: str) -> Any:
    def change(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
        kept = self.__dict__.setdefault(field, getattr(response, field))
        return replace(response, **{field: kept})

    return change


def _repeat_rf_of_first_response(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
    bit = PingPacket.flags(RF=1)
    kept = self.__dict__.setdefault("rf", response.Flags & bit)
    return replace(response, Flags=response.Flags & ~bit | kept)


def _keep_rf_set_after_first_refusal(self: Any, request: PingPacket, response: PingPacket) -> PingPacket:
    bit = PingPacket.flags(RF=1)
    self.__dict__["rf"] = kept = self.__dict__.get("rf", 0) | response.Flags & bit
    return replace(response, Flags=response.Flags | kept)


for _name, _breaks, _says, _install in (
    (
        "acceptor-ping-request-of-second-port-unanswered",
        "MQQB-3.1.7.7-01",
        "The acceptor answers only the Ping Requests of the address and port of the first Ping Request.",
        change_step(PingHandling.receive_request, _ignore_ping_from_other_port),
    ),
    (
        "acceptor-ping-request-third-unanswered",
        "MQQB-3.1.7.7-01",
        "The acceptor does not answer each third datagram on its ping port.",
        change_step(PingHandling.receive_request, _ignore_every_third_ping),
    ),
    (
        "acceptor-ping-request-after-malformed-datagram-unanswered",
        "MQQB-3.1.7.7-03",
        "The acceptor does not answer the Ping Request after a datagram with a wrong Signature.",
        change_step(PingHandling.receive_request, _ignore_ping_after_malformed_one),
    ),
    *(
        (
            f"acceptor-ping-request-with-signature-{signature.hex()}-answered",
            "MQQB-3.1.7.7-03",
            f"The acceptor answers a datagram whose Signature has the bytes {signature.hex(' ')}.",
            _accept_other_ping_signature(signature),
        )
        for signature in (b"\x55\x48", b"\0\0", b"\x48\0", b"\0\x55")
    ),
    (
        "acceptor-ping-response-to-first-port-of-host",
        "MQQB-3.1.7.7-11",
        "The acceptor sends each Ping Response to the port from which the host sent its first Ping Request.",
        change_step(PingHandling.receive_request, _answer_ping_at_port_of_first_request),
    ),
    (
        "acceptor-ping-response-also-to-previous-requester",
        "MQQB-3.1.7.7-11",
        "The acceptor sends a Ping Response also to the port of the previous Ping Request.",
        change_step(PingHandling.receive_request, _answer_previous_sender_again),
    ),
    (
        "acceptor-ping-response-cookie-of-first-request",
        ("MQQB-3.1.7.7-02", "MQQB-3.1.7.7-08"),
        "The acceptor repeats the Cookie of the first Ping Request in each Ping Response.",
        _change_ping_response(_repeat_field_of_first_ping_response("Cookie")),
    ),
    (
        "acceptor-ping-response-flags-of-first-request",
        ("MQQB-3.1.7.7-05", "MQQB-3.1.7.7-07"),
        "The acceptor repeats the Flags of the first Ping Response in each Ping Response.",
        _change_ping_response(_repeat_field_of_first_ping_response("Flags")),
    ),
    (
        "acceptor-ping-response-rf-of-first-response",
        "MQQB-3.1.7.7-05",
        "The acceptor keeps the RF of its first Ping Response.",
        _change_ping_response(_repeat_rf_of_first_response),
    ),
    (
        "acceptor-ping-response-rf-set-ever-after-refusal",
        "MQQB-3.1.7.7-05",
        "The acceptor sets RF in each Ping Response after the first with RF, although it accepts sessions again.",
        _change_ping_response(_keep_rf_set_after_first_refusal),
    ),
    (
        "acceptor-ping-response-guid-null-for-null-guid",
        "MQQB-3.1.7.7-09",
        "The acceptor sets QMGuid of the Ping Response to null when QMGuid of the request is null.",
        _change_ping_response(
            lambda self, request, response: (
                replace(response, QMGuid=NULL_GUID) if request.QMGuid == NULL_GUID else response
            )
        ),
    ),
    (
        "acceptor-ping-response-guid-null-when-refusing",
        "MQQB-3.1.7.7-09",
        "The acceptor sets QMGuid of a Ping Response with RF to null.",
        _change_ping_response(
            lambda self, request, response: replace(response, QMGuid=NULL_GUID) if response.RF else response
        ),
    ),
    (
        "acceptor-ping-response-rc-clear-when-refusing",
        "MQQB-3.1.7.7-07",
        "The acceptor clears RC in a Ping Response with RF.",
        _change_ping_response(
            lambda self, request, response: replace(response, Flags=response.Flags & ~1) if response.RF else response
        ),
    ),
    (
        "acceptor-ping-response-cookie-0-when-refusing",
        "MQQB-3.1.7.7-08",
        "The acceptor sets Cookie of a Ping Response with RF to 0.",
        _change_ping_response(lambda self, request, response: replace(response, Cookie=0) if response.RF else response),
    ),
    (
        "acceptor-ping-response-cookie-high-bit-lost",
        "MQQB-3.1.7.7-08",
        "The acceptor copies only the low 16 bits of Cookie into the Ping Response.",
        _change_ping_response(lambda self, request, response: replace(response, Cookie=response.Cookie & 0xFFFF)),
    ),
):
    add(_name, _breaks, _says, _install, blind=True)


@fault("acceptor-ping-response-built-from-previous-request", breaks="MQQB-3.1.7.7-02")
class AcceptorPingResponseBuiltFromPreviousRequest(PingHandling):
    """The acceptor creates the Ping Response from the previous Ping Request."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.before: PingPacket | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        before, self.before = self.before or request, request
        return super().build_response(before)


@fault("acceptor-compares-only-low-byte-of-ping-request-signature", breaks="MQQB-3.1.7.7-03", blind=True)
class AcceptorComparesOnlyLowByteOfPingRequestSignature(PingHandling):
    """The acceptor answers a datagram whose Signature equals 0x5548 only in the low byte."""

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        if len(data) >= 4 and data[2] == 0x48:
            data = data[:3] + b"\x55" + data[4:]
        super().receive_request(remote, data)


@fault("acceptor-ping-response-copies-rf-of-request", breaks="MQQB-3.1.7.7-04")
class AcceptorPingResponseCopiesRfOfRequest(PingHandling):
    """The acceptor returns the Ping Request with a changed QMGuid, so that the Ping Response contains RF
    of the request.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(request, QMGuid=super().build_response(request).QMGuid)


@fault("acceptor-ping-response-keeps-rf-of-request-with-rc-and-rf", breaks="MQQB-3.1.7.7-04", blind=True)
class AcceptorPingResponseKeepsRfOfRequestWithRcAndRf(PingHandling):
    """The acceptor sets RF in the Ping Response when both RC and RF are set in the request."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=int(request.RC and request.RF)))


@fault("acceptor-ping-response-rf-set-when-rc-set", breaks="MQQB-3.1.7.7-05", blind=True)
class AcceptorPingResponseRfSetWhenRcSet(PingHandling):
    """The acceptor sets RF when RC of the Ping Request is set, although it accepts the session."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Flags=response.Flags | PingPacket.flags(RF=int(request.RC)))


add(
    "acceptor-ping-response-rc-clear",
    ("MQQB-2.2.7-03", "MQQB-3.1.7.7-07"),
    "The acceptor's Ping Response always has RC clear.",
    limit_to_sender_role("acceptor", clear_bits(PingPacket, "RC")),
)


@fault("acceptor-ping-response-repeats-rc-of-first-request", breaks="MQQB-3.1.7.7-07", blind=True)
class AcceptorPingResponseRepeatsRcOfFirstRequest(PingHandling):
    """The acceptor repeats RC of the first Ping Request in the responses to all later requests."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: int | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        self.first = request.RC if self.first is None else self.first
        response = super().build_response(request)
        return PingPacket(PingPacket.flags(RC=self.first, RF=response.RF), response.Cookie, response.QMGuid)


@fault("acceptor-ping-response-has-rc-of-preceding-request", breaks="MQQB-3.1.7.7-07", blind=True)
class AcceptorPingResponseHasRcOfPrecedingRequest(PingHandling):
    """The acceptor sends RC of the preceding Ping Request in a Ping Response."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last: int | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        rc = request.RC if self.last is None else self.last
        self.last = request.RC
        response = super().build_response(request)
        return PingPacket(PingPacket.flags(RC=rc, RF=response.RF), response.Cookie, response.QMGuid)


def _swap_cookie_bytes(packet: PingPacket) -> bytes:
    return replace(packet, Cookie=int.from_bytes(packet.Cookie.to_bytes(4, "big"), "little")).build()


add(
    "acceptor-ping-response-cookie-swapped",
    ("MQQB-2.2.7-22", "MQQB-3.1.7.7-08"),
    "The acceptor's Ping Response has the Cookie in the wrong byte order.",
    limit_to_sender_role("acceptor", change_pings(_swap_cookie_bytes)),
)


@fault("acceptor-ping-response-cookie-0-replaced", breaks="MQQB-3.1.7.7-08", blind=True)
class AcceptorPingResponseCookie0Replaced(PingHandling):
    """If the Cookie of a Ping Request is zero, the acceptor sends Cookie 1 in its response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        return replace(response, Cookie=response.Cookie or 1)


add(
    "acceptor-ping-response-qm-guid-wrong",
    "MQQB-3.1.7.7-09",
    "The QMGuid of the acceptor's Ping Response belongs to no queue manager.",
    limit_to_sender_role("acceptor", set_field_value(PingPacket, "QMGuid", MADE_UP_GUID)),
)


@fault("acceptor-ping-response-copies-qm-guid-of-request", breaks="MQQB-3.1.7.7-09", blind=True)
class AcceptorPingResponseCopiesQmGuidOfRequest(PingHandling):
    """The acceptor copies QMGuid of the Ping Request to the Ping Response."""

    def build_response(self, request: PingPacket) -> PingPacket:
        return replace(super().build_response(request), QMGuid=request.QMGuid)


BYTE_SWAPPED_PING_SIGNATURE = 0x4855


add(
    "acceptor-ping-response-signature-swapped",
    ("MQQB-2.2.7-20", "MQQB-3.1.7.7-10"),
    "The acceptor's Ping Response has the Signature 0x4855.",
    limit_to_sender_role("acceptor", set_field_value(PingPacket, "Signature", BYTE_SWAPPED_PING_SIGNATURE)),
)


_PING_PORT = 3527


add(
    "acceptor-ping-response-to-ping-port",
    "MQQB-3.1.7.7-11",
    "The acceptor sends the Ping Response to the ping port of the initiator instead of the request's port.",
    change_sent_datagrams(
        PingSocket.LISTENER, lambda sent: replace(sent, remote=Endpoint(sent.remote.host, _PING_PORT))
    ),
)


@fault("acceptor-sends-each-ping-response-to-first-requester", breaks="MQQB-3.1.7.7-11", blind=True)
class AcceptorSendsEachPingResponseToFirstRequester(PingHandling):
    """The acceptor sends each Ping Response to the address and port of the first Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Endpoint | None = None

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        self.first = self.first or remote
        super().receive_request(self.first, data)


@fault("acceptor-ping-response-repeated-for-same-cookie", breaks="MQQB-3.1.7.7-02", blind=True)
class AcceptorPingResponseRepeatedForSameCookie(PingHandling):
    """If a request has the Cookie of the previous request, the acceptor answers it with the same response as the
    previous request.
    """

    last_response: PingPacket | None = None

    def build_response(self, request: PingPacket) -> PingPacket:
        last = self.last_response
        if last is None or last.Cookie != request.Cookie:
            self.last_response = last = super().build_response(request)
        return last


@fault("acceptor-ping-request-with-known-cookie-not-answered", breaks="MQQB-3.1.7.7-01", blind=True)
class AcceptorPingRequestWithKnownCookieNotAnswered(PingHandling):
    """The acceptor does not answer a Ping Request with the Cookie and QMGuid of an earlier Ping Request."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.answered: set[tuple[UUID, int]] = set()

    def receive_request(self, remote: Endpoint, data: bytes) -> None:
        try:
            request = parse_ping(data)
        except FormatError:
            return
        key = (request.QMGuid, request.Cookie)
        if key not in self.answered:
            self.answered.add(key)
            super().receive_request(remote, data)


@fault("acceptor-ping-response-rf-clear-under-hardened-security", breaks="MQQB-3.1.7.7-05", blind=True)
class AcceptorPingResponseRfClearUnderHardenedSecurity(PingHandling):
    """The acceptor clears RF in a Ping Response although it refuses all sessions because of HardenedSecurity."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if not (self.qm.adm.HardenedSecurity and self.qm.adm.ConnectionActive):
            return response
        return replace(response, Flags=response.Flags & ~PingPacket.flags(RF=1))
