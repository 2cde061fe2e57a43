"""Judge the EstablishConnectionHeader. Spec: MS-MQQB 2.2.3.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from suites.mqqb.steps.layouts import register_layout

register_layout("MQQB-2.2.3-D01", "EstablishConnection", "EstablishConnectionPacket", 572)
register_layout("MQQB-2.2.3.1-D01", "EstablishConnection", "EstablishConnectionHeader", 552)


@passive("MQQB-2.2.3.1-03", "EstablishConnection", "the low byte of OperatingSystem is 0x10")
@passive("MQQB-2.2.3.1-04", "EstablishConnection", "RE is 0x10")
def reserved_byte_of_operating_system(packet: Any, context: Context) -> Finding:
    """Demand RE 0x10, the low byte of OperatingSystem; the other bits may be 0 or 1."""
    value = packet.EstablishConnectionHeader.OperatingSystem
    return value & 0xFF == 0x10, f"OperatingSystem is 0x{value:04X}"


@passive("MQQB-2.2.3.1-15", "EstablishConnection", "every byte of Padding is 0x5A")
def padding_of_a_response(packet: Any, context: Context) -> Finding:
    """Demand 0x5A in each byte of Padding of a response; the Padding of a request may have any value."""
    if context.sut_role != "acceptor":
        return None
    odd = [byte for byte in packet.EstablishConnectionHeader.Padding if byte != 0x5A]
    return not odd, f"{len(odd)} bytes of Padding are not 0x5A"
