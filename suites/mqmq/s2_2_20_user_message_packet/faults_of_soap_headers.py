"""Faults in the lengths of SoapHeaders: MQMQ-2.2.20.7-03."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.fields import change_number_in_field
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_header
from reference_qm.codec import FormatError, Packet, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying


def _refuse_soap_header(when: Callable[[Any], Any]) -> Install:
    """Let the receiver treat a message as malformed if a condition is true for its SoapHeader."""

    class SoapHeaderRefused(Identifying):
        def identify_packet(self, data: bytes) -> Packet:
            packet = super().identify_packet(data)
            if isinstance(packet, UserMessagePacket) and packet.SoapHeader and when(packet.SoapHeader):
                raise FormatError("SoapHeader.HeaderDataLength", 0, "a fault", "the length is not supported")
            return packet

    return replace_part(SoapHeaderRefused)


for _name, _says, _condition in (
    ("odd", "is odd", lambda header: header.HeaderDataLength % 2),
    ("above-255", "exceeds 255", lambda header: header.HeaderDataLength > 0xFF),
):
    add(
        f"receiver-soap-header-length-{_name}-refused",
        "MQMQ-2.2.20.7-03",
        f"The receiver treats a message as malformed if HeaderDataLength of its SoapHeader {_says}.",
        _refuse_soap_header(_condition),
    )
add(
    "router-soap-header-length-without-null",
    "MQMQ-2.2.20.7-03",
    "The router subtracts 1 from HeaderDataLength of the SoapHeader in a forwarded message.",
    change_number_in_field(
        UserMessagePacket, "SoapHeader.HeaderDataLength", lambda old: old - 1, has_header("SoapHeader")
    ),
)
