"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.registry import Install
from reference_qm.codec import SecurityHeader, UserMessagePacket

SecurityHeaderCondition = Callable[[UserMessagePacket, SecurityHeader], Any]


def change_sent_security_header(when: SecurityHeaderCondition, changes: dict[str, Any]) -> Install:
    """Let the sender change the SecurityHeader of messages after it has signed and encrypted them."""

    def change_packet(packet: UserMessagePacket) -> bytes:
        every = {"SecurityHeader.SecurityData.Padding": None, "BaseHeader.PacketSize": 0, **changes}
        data: bytes = set_fields(packet, every).build()
        return data

    return change_packets_of_kind(
        UserMessagePacket,
        change_packet,
        lambda packet: packet.SecurityHeader is not None and when(packet, packet.SecurityHeader),
    )
