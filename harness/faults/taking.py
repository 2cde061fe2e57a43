"""Faults of transports and of taking packets. Spec: MS-MQQB 2.1, 3.1.5.1, MS-MQMQ 2.2.19.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.formats import BASE, FLAGS_AT, IN, add
from harness.faults.primitives import byte, effects, inputs, procedure, skip
from harness.faults.registry import Install
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queueing.positions import Positions
from reference_qm.surface.effects import Connect, Effect, SendDatagram
from reference_qm.surface.inputs import BytesReceived, DatagramReceived, Endpoint, Input, PingSocket, TransportAccepted


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
    def known_by_size(size: int) -> Install:
        def with_in(event: Input) -> Iterable[Input]:
            if isinstance(event, BytesReceived) and len(event.data) == size:
                return [replace(event, data=byte(FLAGS_AT, lambda old: old | IN)(event.data))]
            return [event]

        return inputs(with_in)

    def no_normal_class(original: Callable[..., Any]) -> Callable[..., Any]:
        def identify_packet(qm: Any, data: bytes) -> Packet:
            packet: Packet = original(qm, data)
            if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == 0:
                raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "is NORMAL")
            return packet

        return identify_packet

    add("unknown-packet-type-kept", "MQQB-2.2.1-03", "An unknown PT is overlooked.", _overlook("InternalHeader.PT"))
    add("received-not-noted", "MQQB-3.1.5.1-01", "ReceivedAck stays FALSE.", skip(Identifying.note_received))
    add(
        "establish-known-by-size",
        ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
        "572 bytes are an EstablishConnection, whatever IN is.",
        known_by_size(572),
    )
    add(
        "parameters-known-by-size",
        "MQQB-3.1.5.1.1-02",
        "32 bytes are a ConnectionParameters, whatever IN is.",
        known_by_size(32),
    )
    add(
        "session-ack-known-by-size",
        "MQQB-3.1.5.1.1-03",
        "36 bytes are a SessionAck, whatever IN is.",
        known_by_size(36),
    )
    add(
        "normal-messages-unknown",
        "MQQB-3.1.5.1.1-13",
        "The class NORMAL is refused.",
        procedure(Identifying.identify_packet, no_normal_class),
    )
    add(
        "signature-not-verified",
        ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01"),
        "A wrong version or signature does not end the session.",
        skip(Identifying.verify_signature),
    )
    add(
        "malformed-packets-kept",
        ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
        "A malformed packet does not end the session.",
        skip(Identifying.refuse_malformed),
    )
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
