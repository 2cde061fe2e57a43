"""Faults that break rules of MS-MQQB 3.1.7.6 Send Ping Request for a later request or after a restart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, add
from reference_qm.codec import NULL_GUID, PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import PingSocket


def _count_ping_requests(self: PingHandling) -> int:
    self.__dict__["requests"] = self.__dict__.get("requests", 0) + 1
    return int(self.__dict__["requests"])


@fault("initiator-second-ping-request-with-null-guid", breaks="MQQB-3.1.7.6-05", blind=True)
class InitiatorSecondPingRequestWithNullGuid(PingHandling):
    """The initiator sets QMGuid of its second and later Ping Requests to zero."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return request if _count_ping_requests(self) == 1 else replace(request, QMGuid=NULL_GUID)


@fault("initiator-ping-request-with-guid-of-destination", breaks="MQQB-3.1.7.6-05", blind=True)
class InitiatorPingRequestWithGuidOfDestination(PingHandling):
    """The initiator sets QMGuid of a Ping Request to the GUID of the destination, if this GUID is known."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        waiting = [
            one for one in self.qm.sessions.values() if one.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE
        ]
        return (
            replace(request, QMGuid=waiting[-1].destination)
            if waiting and not waiting[-1].is_destination_direct
            else request
        )


@fault("initiator-ping-response-with-low-bits-of-cookie-accepted", breaks="MQQB-3.1.7.6-06", blind=True)
class InitiatorPingResponseWithLowBitsOfCookieAccepted(PingHandling):
    """The initiator accepts a Ping Response if the low 16 bits of its Cookie are those of the request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie
        if len(data) >= 8 and int.from_bytes(data[4:8], "little") & 0xFFFF == cookie & 0xFFFF:
            data = data[:4] + cookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


@fault("initiator-ping-response-with-earlier-cookie-accepted", breaks="MQQB-3.1.7.6-06", blind=True)
class InitiatorPingResponseWithEarlierCookieAccepted(PingHandling):
    """The initiator accepts a Ping Response that contains the Cookie of an earlier Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie
        if len(data) >= 8 and int.from_bytes(data[4:8], "little") < cookie:
            data = data[:4] + cookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


@fault("initiator-ping-response-accepted-once", breaks="MQQB-3.1.7.6-06", blind=True)
class InitiatorPingResponseAcceptedOnce(PingHandling):
    """The initiator accepts one Ping Response, and ignores the responses to its later Ping Requests."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if _count_ping_requests(self) == 1:
            super().on_ping_response_processed(session, response, now)


@fault("initiator-second-expired-ping-opens-session", breaks="MQQB-3.1.7.6-11", blind=True)
class InitiatorSecondExpiredPingOpensSession(PingHandling):
    """When the Ping Response Timer expires a second time, the initiator opens the session."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE and _count_ping_requests(self) > 1:
            self.qm.session_connecting.connect_transport(session)
        else:
            super().on_response_timer(session, now)


@fault("initiator-expired-ping-for-recoverable-message-opens-session", breaks="MQQB-3.1.7.6-11", blind=True)
class InitiatorExpiredPingForRecoverableMessageOpensSession(PingHandling):
    """When the Ping Response Timer expires while a recoverable message waits, the initiator opens the session."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        waits = any(position.recoverable for position in session.OutgoingMessageTable)
        if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE and waits:
            self.qm.session_connecting.connect_transport(session)
        else:
            super().on_response_timer(session, now)


@fault("initiator-expired-ping-to-private-name-opens-session", breaks="MQQB-3.1.7.6-11", blind=True)
class InitiatorExpiredPingToPrivateNameOpensSession(PingHandling):
    """When the Ping Response Timer of a session for a private format name expires, the initiator opens the session."""

    def on_response_timer(self, session: Session, now: Now) -> None:
        if session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE and not session.is_destination_direct:
            self.qm.session_connecting.connect_transport(session)
        else:
            super().on_response_timer(session, now)


def _change_sent_ping_request(change: Any) -> Any:
    def install(faulty: FaultyCore) -> None:
        sent: list[bytes] = []

        def filter_effect(effect: Effect) -> list[Effect]:
            if not isinstance(effect, SendDatagram) or effect.socket is not PingSocket.SOURCE:
                return [effect]
            sent.append(effect.data)
            return [replace(effect, data=change(effect.data, sent))]

        faulty.effect_filters.append(filter_effect)

    return install


add(
    "initiator-second-ping-request-with-four-more-bytes",
    "MQQB-3.1.7.6-04",
    "The initiator's second and later Ping Requests have 28 bytes.",
    _change_sent_ping_request(lambda data, sent: data if len(sent) == 1 else data + bytes(4)),
    blind=True,
)
add(
    "initiator-ping-request-repeated-in-datagram",
    "MQQB-3.1.7.6-04",
    "The initiator's datagram also contains its previous Ping Request.",
    _change_sent_ping_request(lambda data, sent: data + (sent[-2] if len(sent) > 1 else b"")),
    blind=True,
)
add(
    "initiator-ping-request-for-later-cookie-without-guid",
    "MQQB-3.1.7.6-04",
    "The initiator's Ping Request with an even Cookie has only 8 bytes.",
    _change_sent_ping_request(lambda data, sent: data[:8] if data[4] % 2 == 0 else data),
    blind=True,
)
