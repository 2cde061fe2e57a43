"""Faults of an acceptor that answers an earlier Ping Request instead of the received one. Spec: MS-MQQB 3.1.7.7."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling


@fault("acceptor-answers-known-cookie-with-first-ping-response", breaks="MQQB-3.1.7.7-02", blind=True)
class AcceptorAnswersKnownCookieWithFirstPingResponse(PingHandling):
    """The acceptor answers a Ping Request with a known Cookie with its response to the first request with this
    Cookie.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        known = self.__dict__.setdefault("responses", {})
        response: PingPacket = known.setdefault(request.Cookie, super().build_response(request))
        return response


@fault("acceptor-answers-other-sender-with-cookie-of-earlier-ping", breaks="MQQB-3.1.7.7-02", blind=True)
class AcceptorAnswersOtherSenderWithCookieOfEarlierPing(PingHandling):
    """The acceptor answers a Ping Request from a different queue manager with the Cookie of the preceding
    Ping Request.
    """

    def build_response(self, request: PingPacket) -> PingPacket:
        before: PingPacket = self.__dict__.get("request", request)
        self.__dict__["request"] = request
        return super().build_response(before if before.QMGuid != request.QMGuid else request)
