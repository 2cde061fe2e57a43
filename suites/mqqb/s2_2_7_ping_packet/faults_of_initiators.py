"""Faults of initiators that break rules of MS-MQQB 2.2.7 Ping Packet: an unused bit changes the meaning of a Ping
Response.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import PingSocket

UNUSED_BIT_13 = 1 << 13
REFUSAL_FLAG_RF_OF_PING = PingPacket.flags(RF=1)


@fault("initiator-ping-response-bit-13-taken-as-refusal", breaks="MQQB-2.2.7-17", blind=True)
class InitiatorPingResponseBit13TakenAsRefusal(PingHandling):
    """The initiator treats a Ping Response with the unused bit 13 set in Flags as a refusal of the session."""

    def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
        if response.Flags & UNUSED_BIT_13:
            response = replace(response, Flags=response.Flags | REFUSAL_FLAG_RF_OF_PING)
        super().on_ping_response_processed(session, response, now)


def _invert_rf_if_bit_set(bit: int) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        is_set = int.from_bytes(data[:2], "little") >> 2 == 1 << bit - 2
        return bytes([data[0] ^ REFUSAL_FLAG_RF_OF_PING]) + data[1:] if is_set else data

    return change


for _name, _rule, _bit in (
    ("initiator-rf-of-ping-response-with-unused-bit-2-inverted", "MQQB-2.2.7-06", 2),
    ("initiator-rf-of-ping-response-with-unused-bit-3-inverted", "MQQB-2.2.7-07", 3),
    ("initiator-rf-of-ping-response-with-unused-bit-4-inverted", "MQQB-2.2.7-08", 4),
    ("initiator-rf-of-ping-response-with-unused-bit-5-inverted", "MQQB-2.2.7-09", 5),
    ("initiator-rf-of-ping-response-with-unused-bit-6-inverted", "MQQB-2.2.7-10", 6),
    ("initiator-rf-of-ping-response-with-unused-bit-7-inverted", "MQQB-2.2.7-11", 7),
    ("initiator-rf-of-ping-response-with-unused-bit-8-inverted", "MQQB-2.2.7-12", 8),
    ("initiator-rf-of-ping-response-with-unused-bit-9-inverted", "MQQB-2.2.7-13", 9),
    ("initiator-rf-of-ping-response-with-unused-bit-10-inverted", "MQQB-2.2.7-14", 10),
    ("initiator-rf-of-ping-response-with-unused-bit-11-inverted", "MQQB-2.2.7-15", 11),
    ("initiator-rf-of-ping-response-with-unused-bit-12-inverted", "MQQB-2.2.7-16", 12),
    ("initiator-rf-of-ping-response-with-unused-bit-14-inverted", "MQQB-2.2.7-18", 14),
    ("initiator-rf-of-ping-response-with-unused-bit-15-inverted", "MQQB-2.2.7-19", 15),
):
    add(
        _name,
        _rule,
        f"The initiator inverts RF of a Ping Response in which bit {_bit} is the only unused bit set.",
        change_received_datagrams(PingSocket.SOURCE, _invert_rf_if_bit_set(_bit)),
    )


def _invert_flag_rc_of_ping_request(request: PingPacket) -> PingPacket:
    return replace(request, Flags=request.Flags ^ PingPacket.flags(RC=1))


@fault("initiator-rc-inverted-in-later-ping-request", breaks="MQQB-2.2.7-02", blind=True)
class InitiatorRcInvertedInLaterPingRequest(PingHandling):
    """The initiator inverts RC in every Ping Request after the first one."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return _invert_flag_rc_of_ping_request(request) if self.qm.adm.PingCookie > 1 else request


@fault("initiator-rc-inverted-in-ping-request-while-session-is-open", breaks="MQQB-2.2.7-02", blind=True)
class InitiatorRcInvertedInPingRequestWhileSessionIsOpen(PingHandling):
    """The initiator inverts RC in a Ping Request while a session is open."""

    def build_request(self) -> PingPacket:
        request = super().build_request()
        states = [one.SessionState for one in self.qm.sessions.values()]
        return _invert_flag_rc_of_ping_request(request) if SessionState.OPEN in states else request
