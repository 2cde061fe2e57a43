"""Faults that break rules of MS-MQQB 2.2.7 Ping Packet: an unused bit of Flags changes what the receiver does, and RF
is set in some Ping Requests.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, PingPacket, parse_ping
from reference_qm.core.part import QM
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Endpoint

_RULE_BY_UNUSED_BIT = {
    2: "MQQB-2.2.7-06",
    3: "MQQB-2.2.7-07",
    4: "MQQB-2.2.7-08",
    5: "MQQB-2.2.7-09",
    6: "MQQB-2.2.7-10",
    7: "MQQB-2.2.7-11",
    8: "MQQB-2.2.7-12",
    9: "MQQB-2.2.7-13",
    11: "MQQB-2.2.7-15",
    12: "MQQB-2.2.7-16",
    13: "MQQB-2.2.7-17",
    14: "MQQB-2.2.7-18",
    15: "MQQB-2.2.7-19",
}
"""The rule of each unused bit of Flags, by the number of the bit."""


def _set_rf_if_bit_is_set(bit: int) -> Install:
    """Return an installer of a fault: in the response to a Ping Request with a given bit, the acceptor sets RF."""

    class ResponseRefuses(PingHandling):
        def build_response(self, request: PingPacket) -> PingPacket:
            response = super().build_response(request)
            if not request.Flags >> bit & 1:
                return response
            return replace(response, Flags=response.Flags | PingPacket.flags(RF=1))

    return replace_part(ResponseRefuses)


def _ignore_later_requests_with_bit(bit: int) -> Install:
    """Return an installer of a fault: of all Ping Requests with a given bit, the acceptor answers only the first."""

    class LaterRequestIgnored(PingHandling):
        def __init__(self, qm: QM) -> None:
            super().__init__(qm)
            self.answered = False

        def receive_request(self, remote: Endpoint, data: bytes) -> None:
            try:
                has_bit = bool(parse_ping(data).Flags >> bit & 1)
            except FormatError:
                has_bit = False
            if not (has_bit and self.answered):
                super().receive_request(remote, data)
            self.answered = self.answered or has_bit

    return replace_part(LaterRequestIgnored)


def _ignore_rf_if_bit_is_set(bit: int) -> Install:
    """Return an installer of a fault: if a given bit is also set in a Ping Response, the initiator ignores RF."""

    class RefusalHidden(PingHandling):
        def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
            if response.Flags >> bit & 1:
                response = replace(response, Flags=response.Flags & ~PingPacket.flags(RF=1))
            super().on_ping_response_processed(session, response, now)

    return replace_part(RefusalHidden)


for _bit, _rule in _RULE_BY_UNUSED_BIT.items():
    add(
        f"acceptor-ping-request-with-bit-{_bit}-response-rf-set",
        _rule,
        f"The acceptor sets RF in the Ping Response if bit {_bit} of Flags is set in the Ping Request.",
        _set_rf_if_bit_is_set(_bit),
        blind=True,
    )
    add(
        f"acceptor-later-ping-request-with-bit-{_bit}-not-answered",
        _rule,
        f"The acceptor answers only the first Ping Request in which bit {_bit} of Flags is set.",
        _ignore_later_requests_with_bit(_bit),
        blind=True,
    )
    add(
        f"initiator-ping-response-with-bit-{_bit}-rf-ignored",
        _rule,
        f"The initiator ignores RF of a Ping Response if bit {_bit} of Flags is also set.",
        _ignore_rf_if_bit_is_set(_bit),
        blind=True,
    )


def _set_rf(request: PingPacket) -> PingPacket:
    return replace(request, Flags=request.Flags | PingPacket.flags(RF=1))


@fault("initiator-rf-set-in-ping-request-while-session-is-open", breaks="MQQB-2.2.7-05", blind=True)
class InitiatorRfSetInPingRequestWhileSessionIsOpen(PingHandling):
    """The initiator sets RF in a Ping Request while a session of its queue manager is open."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        is_open = any(session.SessionState is SessionState.OPEN for session in self.qm.sessions.values())
        return _set_rf(request) if is_open else request


@fault("initiator-rf-set-in-ping-request-for-private-name", breaks="MQQB-2.2.7-05", blind=True)
class InitiatorRfSetInPingRequestForPrivateName(PingHandling):
    """The initiator sets RF in the Ping Request if the destination is not a direct format name."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.names_guid = False

    def send_request(self, session: Session, now: Now) -> None:
        self.names_guid = not session.is_destination_direct
        super().send_request(session, now)

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return _set_rf(request) if self.names_guid else request
