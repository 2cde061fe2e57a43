"""Faults of taking packets. Spec: MS-MQQB 3.1.5.1, 3.1.5.1.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import byte, inputs, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.surface.inputs import BytesReceived, Input

FLAGS_AT = 2
IN = 1 << 3


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

    add("header-received-not-noted", "MQQB-3.1.5.1-01", "ReceivedAck stays FALSE.", skip(Identifying.note_received))
    add(
        "header-establish-known-by-size",
        ("MQQB-3.1.5.1-03", "MQQB-3.1.5.1.1-01"),
        "572 bytes are an EstablishConnection, whatever IN is.",
        known_by_size(572),
    )
    add(
        "header-parameters-known-by-size",
        "MQQB-3.1.5.1.1-02",
        "32 bytes are a ConnectionParameters, whatever IN is.",
        known_by_size(32),
    )
    add(
        "header-session-ack-known-by-size",
        "MQQB-3.1.5.1.1-03",
        "36 bytes are a SessionAck, whatever IN is.",
        known_by_size(36),
    )
    add(
        "header-normal-messages-unknown",
        "MQQB-3.1.5.1.1-13",
        "The class NORMAL is refused.",
        procedure(Identifying.identify_packet, no_normal_class),
    )
    add(
        "header-signature-not-verified",
        ("MQQB-3.1.5.1-04", "MQQB-3.1.5.1.2-01"),
        "A wrong version or signature does not end the session.",
        skip(Identifying.verify_signature),
    )
    add(
        "header-malformed-packets-kept",
        ("MQQB-3.1.5.1-05", "MQQB-3.1.5.1.3-01"),
        "A malformed packet does not end the session.",
        skip(Identifying.refuse_malformed),
    )


_receiving()
