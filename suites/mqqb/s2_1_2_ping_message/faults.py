"""Faults of MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import change_received_datagrams, change_sent_datagrams
from harness.faults.registry import add
from reference_qm.surface.effects import SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket


def _send_to_other_port(effect: SendDatagram) -> SendDatagram:
    return replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))


add(
    "initiator-ping-response-ignored",
    "MQQB-2.1.2-01",
    "The initiator ignores every Ping Response.",
    change_received_datagrams(PingSocket.SOURCE, lambda data: None),
)
add(
    "acceptor-ping-response-sent-to-other-port",
    "MQQB-2.1.2-02",
    "The acceptor sends a Ping Response to a port other than the port of the request.",
    change_sent_datagrams(PingSocket.LISTENER, _send_to_other_port),
)
add(
    "initiator-ping-request-sent-to-port-3526",
    "MQQB-2.1.2-D01",
    "The initiator sends its Ping Requests to UDP port 3526 instead of 3527.",
    change_sent_datagrams(PingSocket.SOURCE, _send_to_other_port),
)
