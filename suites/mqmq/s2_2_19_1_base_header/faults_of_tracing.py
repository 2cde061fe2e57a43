"""Faults in the bits TR and DH of traced messages: MQMQ-2.2.19.1-13."""

from __future__ import annotations

from harness.faults.fields import clear_bits, set_bits
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket


def _is_traced(packet: UserMessagePacket) -> bool:
    return bool(packet.BaseHeader.TR)


for _name, _says, _install in (
    (
        "sender-traced-message-dh-clear",
        "The sender clears DH in a message in which it sets TR.",
        clear_bits(UserMessagePacket, "BaseHeader.DH", _is_traced),
    ),
    (
        "sender-traced-transactional-message-dh-clear",
        "The sender clears DH in a transactional message in which it sets TR.",
        clear_bits(
            UserMessagePacket,
            "BaseHeader.DH",
            lambda packet: _is_traced(packet) and packet.TransactionHeader is not None,
        ),
    ),
    (
        "sender-transactional-message-tr-without-dh",
        "The sender sets TR, but not DH, in a transactional message.",
        set_bits(UserMessagePacket, "BaseHeader.TR", lambda packet: packet.TransactionHeader is not None),
    ),
):
    add(_name, "MQMQ-2.2.19.1-13", _says, _install, blind=True)
