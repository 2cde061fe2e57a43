"""Faults of MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""

from __future__ import annotations

from harness.faults.fields import bit_clear, change_number, field_is
from harness.faults.primitives import wrong_fields
from harness.faults.registry import add
from reference_qm.codec import UserHeader, UserMessagePacket

MESSAGE = UserMessagePacket
SENT_LEVELS = {1: 1, 3: 2, 5: 3}
JP, JN = UserHeader.flags(JP=1), UserHeader.flags(JN=1)


def _exchanged(flags: int) -> int:
    """Exchange JP and JN."""
    return flags & ~(JP | JN) | (JN if flags & JP else 0) | (JP if flags & JN else 0)


for _name, _rules, _says, _install in (
    (
        "transactional-message-keeps-its-priority",
        "MQDMPR-3.1.7.1.32-05",
        "A transactional message is sent with priority 3.",
        field_is(MESSAGE, "BaseHeader.PR", 3, lambda packet: bool(packet.UserHeader.TH)),
    ),
    (
        "tracing-not-asked-for",
        ("MQDMPR-3.1.7.1.32-05", "MQDMPR-3.1.7.1.32-D01"),
        "TR is clear in a message that is to be traced.",
        bit_clear(MESSAGE, "BaseHeader.TR"),
    ),
    (
        "journal-bits-exchanged",
        ("MQDMPR-3.1.7.1.32-D10", "MQDMPR-3.1.7.1.32-D11"),
        "JP stands where JN should, and JN where JP should.",
        wrong_fields(MESSAGE, {"UserHeader.Flags": _exchanged}),
    ),
    (
        "privacy-levels-counted",
        ("MQDMPR-3.1.7.1.32-D09", "MQDMPR-3.1.1.12-04"),
        "PrivacyLevel counts the levels: 1, 2 and 3.",
        change_number(MESSAGE, "MessagePropertiesHeader.PrivacyLevel", lambda level: SENT_LEVELS.get(level, level)),
    ),
    (
        "default-provider-denied",
        "MQDMPR-3.1.7.1.32-07",
        "DE is clear in a message that the queue manager signed by its default provider.",
        bit_clear(MESSAGE, "SecurityHeader.DE"),
    ),
):
    add(_name, _rules, _says, _install)
