"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response: datagrams that arrive before the Ping Request or too late."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.surface.clock import Now


@fault("initiator-ping-response-before-request-accepted", breaks="MQQB-3.1.7.8-02", blind=True)
class InitiatorPingResponseBeforeRequestAccepted(PingHandling):
    """The initiator keeps the last datagram that arrived before its Ping Request, and evaluates it as the response."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if all(one.awaited_opening_event is not AwaitedOpeningEvent.PING_RESPONSE for one in self.qm.sessions.values()):
            self.__dict__["early"] = data
        super().receive_response(data, now)

    def send_request(self, session: Session, now: Now) -> None:
        super().send_request(session, now)
        early = self.__dict__.pop("early", b"")
        if early:
            self.receive_response(early[:4] + session.ping_cookie.to_bytes(4, "little") + early[8:], now)


@fault("initiator-late-response-to-previous-ping-accepted", breaks="MQQB-3.1.7.8-02", blind=True)
class InitiatorLateResponseToPreviousPingAccepted(PingHandling):
    """The initiator evaluates a late response to its previous Ping Request as the response to the current request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        cookie = self.qm.adm.PingCookie
        if len(data) >= 8 and int.from_bytes(data[4:8], "little") == cookie - 1:
            data = data[:4] + cookie.to_bytes(4, "little") + data[8:]
        super().receive_response(data, now)


@fault("initiator-rf-of-previous-ping-response-applied-to-next-ping", breaks="MQQB-3.1.7.8-02", blind=True)
class InitiatorRfOfPreviousPingResponseAppliedToNextPing(PingHandling):
    """After a Ping Response with RF 1, the initiator evaluates RF of that response for its next Ping Request."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if len(data) >= 8:
            refusing = self.__dict__.pop("refusing", 0)
            self.__dict__["refusing"] = data[0] & 2
            data = bytes([data[0] | refusing]) + data[1:]
        super().receive_response(data, now)
