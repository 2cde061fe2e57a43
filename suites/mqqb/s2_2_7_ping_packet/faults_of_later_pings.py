"""Faults in later Ping packets of MS-MQQB 2.2.7, and in the handling of an unused bit."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import change_pings, replace_byte
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

_UNUSED_BIT_10 = 1 << 10
_SIGNATURE_OFFSET = 2


@fault("initiator-ping-request-rc-inverted-after-first-request", breaks="MQQB-2.2.7-02", blind=True)
class InitiatorPingRequestRcInvertedAfterFirstRequest(PingHandling):
    """The initiator inverts RC in every Ping Request after its first one."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        if self.qm.adm.PingCookie == 1:
            return request
        return PingPacket(Flags=request.Flags ^ PingPacket.flags(RC=1), Cookie=request.Cookie, QMGuid=request.QMGuid)


@fault("initiator-ping-response-unused-bit-10-read-as-refusal", breaks="MQQB-2.2.7-14", blind=True)
class InitiatorPingResponseUnusedBit10ReadAsRefusal(PingHandling):
    """If the unused bit 10 is set in a Ping Response, the initiator treats the response as a refusal."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.Flags & _UNUSED_BIT_10:
            flags = response.Flags | PingPacket.flags(RF=1)
            response = PingPacket(Flags=flags, Cookie=response.Cookie, QMGuid=response.QMGuid)
        super().on_ping_response_processed(session, response, now)


@fault("acceptor-ping-response-rc-cleared-for-unused-bit-10", breaks="MQQB-2.2.7-14", blind=True)
class AcceptorPingResponseRcClearedForUnusedBit10(PingHandling):
    """The acceptor clears RC in the Ping Response to a request in which the unused bit 10 is set."""

    def build_response(self, request: PingPacket) -> PingPacket:
        response = super().build_response(request)
        if not request.Flags & _UNUSED_BIT_10:
            return response
        flags = response.Flags & ~PingPacket.flags(RC=1)
        return PingPacket(Flags=flags, Cookie=response.Cookie, QMGuid=response.QMGuid)


add(
    "acceptor-ping-response-of-refusal-signature-bytes-swapped",
    "MQQB-2.2.7-20",
    "The acceptor sends a Ping Response in which RF is set with the bytes of Signature swapped.",
    change_pings(
        lambda packet: replace_byte(_SIGNATURE_OFFSET, lambda old: 0x55)(
            replace_byte(_SIGNATURE_OFFSET + 1, lambda old: 0x48)(packet.build())
        ),
        lambda packet: bool(packet.RF),
    ),
    blind=True,
)


def _build_ping_with_wrong_signature(packet: PingPacket) -> bytes:
    return replace_byte(_SIGNATURE_OFFSET, lambda old: old + 1)(packet.build())


add(
    "acceptor-ping-response-of-large-cookie-signature-incremented",
    "MQQB-2.2.7-20",
    "The acceptor sends a Ping Response whose Cookie exceeds 0x7FFFFFFF with the Signature 0x5549.",
    change_pings(_build_ping_with_wrong_signature, lambda packet: packet.Cookie > 0x7FFFFFFF),
    blind=True,
)
