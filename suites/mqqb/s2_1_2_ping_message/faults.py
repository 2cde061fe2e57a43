"""Faults of MS-MQQB 2.1.2 Ping Message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.datagrams import received_datagrams, sent_datagrams
from harness.faults.registry import add
from reference_qm.surface.effects import SendDatagram
from reference_qm.surface.inputs import Endpoint, PingSocket


def _elsewhere(effect: SendDatagram) -> SendDatagram:
    return replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))


add(
    "header-ping-source-deaf",
    "MQQB-2.1.2-01",
    "Does not hear Ping Responses.",
    received_datagrams(PingSocket.SOURCE, lambda data: None),
)
add(
    "header-ping-response-elsewhere",
    "MQQB-2.1.2-02",
    "Answers pings to another port.",
    sent_datagrams(PingSocket.LISTENER, _elsewhere),
)
add(
    "header-ping-request-elsewhere",
    "MQQB-2.1.2-D01",
    "Sends Ping Requests to the port beside 3527.",
    sent_datagrams(PingSocket.SOURCE, _elsewhere),
)
