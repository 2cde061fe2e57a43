"""Faults of MS-MQMQ 2.2.19.3 MessagePropertiesHeader: bodies that are hidden."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.securing import Securing
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

PROPERTIES = "MessagePropertiesHeader"


def _hidden(change: Callable[[bytes], bytes]) -> Install:
    """Hide another body than the one that was given."""

    class Hidden(Securing):
        def encrypt_body(
            self, session: Session, message: Message, packet: UserMessagePacket, now: Now
        ) -> UserMessagePacket:
            if packet.MessagePropertiesHeader.PrivacyLevel:
                body = change(packet.MessagePropertiesHeader.MessageBody)
                packet = set_fields(packet, {f"{PROPERTIES}.MessageBody": body, f"{PROPERTIES}.Padding": None})
            return super().encrypt_body(session, message, packet, now)

    return replace_part(Hidden)


def _found(change: Callable[[bytes], bytes]) -> Install:
    """Find another body than the one that was hidden."""

    class Found(SecurityOnReceipt):
        def decrypt_body(self, packet: UserMessagePacket, now: Now) -> UserMessagePacket:
            clear = super().decrypt_body(packet, now)
            if packet.SecurityHeader is None or not packet.SecurityHeader.EB:
                return clear
            body = change(clear.MessagePropertiesHeader.MessageBody)
            changed: UserMessagePacket = set_fields(
                clear, {f"{PROPERTIES}.MessageBody": body, f"{PROPERTIES}.Padding": None}
            )
            return changed

    return replace_part(Found)


def _other_vector(body: bytes) -> bytes:
    """Return the body that a vector other than zeros makes of one: its first block is another."""
    return bytes(one ^ 0x20 for one in body[:8]) + body[8:]


for _name, _rules, _says, _install in (
    (
        "hidden-with-a-vector",
        ("MQMQ-2.2.19.3-D03",),
        "The vector of a hidden body is not zero.",
        _hidden(_other_vector),
    ),
    ("found-with-a-vector", ("MQMQ-2.2.19.3-D03",), "The vector is taken for another.", _found(_other_vector)),
    (
        "hidden-with-zeros-behind",
        ("MQMQ-2.2.19.3-D04", "MQMQ-2.2.19.3-17"),
        "A hidden body is filled with zeros first.",
        _hidden(lambda body: body + bytes(-len(body) % 16)),
    ),
    (
        "found-with-its-padding",
        ("MQMQ-2.2.19.3-D04",),
        "The padding of a body stays with it.",
        _found(lambda body: body + bytes([16 - len(body) % 16] * (16 - len(body) % 16))),
    ),
):
    add(_name, _rules, _says, _install)
