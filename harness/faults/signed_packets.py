"""Faults of a sender that computes a signature from values that differ from the values it sends."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message
from reference_qm.security import SignatureType

ValueByFieldPath = dict[str, Any]
"""New values of fields by path, in the form that ``set_fields`` expects."""


def change_signed_packet(of: SignatureType, changes: ValueByFieldPath) -> Install:
    """Return an installer of a fault with which the sender computes a signature from changed values, but sends the
    packet with the original values. ``of``: the type of signature that the fault changes.
    """

    class SignedWithOtherValues(MessageSecuring):
        def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
            security = message.security
            if security is None or security.AuthenticationLevel != of:
                return super().sign_packet(message, packet)
            signed = super().sign_packet(message, set_fields(packet, changes))
            made: ValueByFieldPath = {"BaseHeader.PacketSize": 0, "SecurityHeader": signed.SecurityHeader}
            if packet.MultiQueueFormatHeader is not None and signed.MultiQueueFormatHeader is not None:
                made["MultiQueueFormatHeader.Signature"] = signed.MultiQueueFormatHeader.Signature
            return set_fields(packet, made)

    return replace_part(SignedWithOtherValues)
