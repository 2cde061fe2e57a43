"""Faults of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""

from __future__ import annotations

from harness.faults.fields import bit_clear, change_number, field_is
from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import UserHeader, UserMessagePacket

SENT_LEVELS = {1: 1, 3: 2, 5: 3}
JP, JN = UserHeader.flags(JP=1), UserHeader.flags(JN=1)


def _swap_journaling_bits(flags: int) -> int:
    """Swap JP and JN."""
    return flags & ~(JP | JN) | (JN if flags & JP else 0) | (JP if flags & JN else 0)


for _name, _rules, _says, _install in (
    (
        "sender-priority-3-in-transactional-message",
        "MQDMPR-3.1.7.1.32-05",
        "The sender sends a transactional message with priority 3 instead of 0.",
        field_is(UserMessagePacket, "BaseHeader.PR", 3, lambda packet: bool(packet.UserHeader.TH)),
    ),
    (
        "sender-tr-clear-in-traced-message",
        ("MQDMPR-3.1.7.1.32-05", "MQDMPR-3.1.7.1.32-D01"),
        "The sender sends a traced message with TR 0.",
        bit_clear(UserMessagePacket, "BaseHeader.TR"),
    ),
    (
        "sender-swaps-jp-and-jn-of-message",
        ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
        "The sender sets JP instead of JN, and JN instead of JP.",
        wrong_fields(UserMessagePacket, {"UserHeader.Flags": _swap_journaling_bits}),
    ),
    (
        "sender-privacy-level-is-number-of-messages",
        ("MQDMPR-3.1.7.1.32-D09", "MQDMPR-3.1.1.12-04"),
        "The sender sets PrivacyLevel to 1, 2 or 3 instead of 1, 3 or 5.",
        change_number(
            UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", lambda level: SENT_LEVELS.get(level, level)
        ),
    ),
    (
        "sender-de-bit-clear-with-default-provider",
        "MQDMPR-3.1.7.1.32-07",
        "The sender sends a message that is signed with the default provider with DE 0.",
        bit_clear(UserMessagePacket, "SecurityHeader.DE"),
    ),
):
    add(_name, _rules, _says, _install)
