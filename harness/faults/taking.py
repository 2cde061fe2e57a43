"""Faults of transports and of taking packets. Spec: MS-MQQB 2.1, 3.1.5.1, MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.formats import BASE, add
from harness.faults.primitives import effects, inputs, procedure
from harness.faults.registry import Install
from reference_qm.codec import FormatError
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queueing.positions import Positions
from reference_qm.surface.effects import Connect, Effect, SendDatagram
from reference_qm.surface.inputs import DatagramReceived, Endpoint, Input, PingSocket, TransportAccepted


def _transport() -> None:
    def other_port(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, Connect):
            return [replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))]
        return [effect]

    def answer_elsewhere(effect: Effect) -> Iterable[Effect]:
        if isinstance(effect, SendDatagram) and effect.socket is PingSocket.LISTENER:
            return [replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))]
        return [effect]

    def silent_source(event: Input) -> Iterable[Input]:
        deaf = isinstance(event, DatagramReceived) and event.socket is PingSocket.SOURCE
        return [] if deaf else [event]

    def no_acceptor(event: Input) -> Iterable[Input]:
        return [] if isinstance(event, TransportAccepted) else [event]

    add("initiator-other-port", "MQQB-2.1.1-02", "Connects to the port beside 1801.", effects(other_port))
    add("acceptor-absent", "MQQB-2.1.1-03", "Nothing serves the TCP port.", inputs(no_acceptor))
    add("ping-source-deaf", "MQQB-2.1.2-01", "Does not hear Ping Responses.", inputs(silent_source))
    add("ping-response-elsewhere", "MQQB-2.1.2-02", "Answers pings to another port.", effects(answer_elsewhere))


def _receiving() -> None:
    add("unknown-packet-type-kept", "MQQB-2.2.1-03", "An unknown PT is overlooked.", _overlook("InternalHeader.PT"))
    add(
        "priority-ignored",
        f"{BASE}03",
        "Messages lie in the queue as they came.",
        procedure(
            Positions.insert_message,
            lambda original: lambda qm, queue, message: original(qm, queue, replace(message, Priority=3)),
        ),
    )
    add(
        "expiry-ignored",
        (f"{BASE}23", f"{BASE}24"),
        "No message ever expires.",
        procedure(Sending.has_expired, lambda original: lambda *arguments: False),
    )


def _overlook(field: str) -> Install:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def refuse_malformed(qm: Any, session: Any, error: FormatError, now: Any) -> None:
            if error.field != field:
                original(qm, session, error, now)

        return refuse_malformed

    return procedure(Identifying.refuse_malformed, make)


_transport()
_receiving()
