"""MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer: messages that are both signed and encrypted."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire import protection
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    sign_message,
)

VALUE_ALGORITHM_AND_KEY_BITS_BY_PRIVACY_LEVEL = {
    "base": (1, protection.RC2, 40),
    "enhanced": (3, protection.RC4, 128),
    "advanced": (5, protection.AES_256, 256),
}
"""For each name of a PrivacyLevel: its value, an algorithm, and the size of the key in bits."""


@needs("security", "receive")
@covers("MQDMPR-3.1.7.1.31-D10")
def test_privacy_level_of_signed_and_encrypted_message(peer, sut, judge):
    """The peer sends signed messages whose bodies are encrypted at each privacy level, and then the same messages
    without signatures. Each message shows its own privacy level.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    packets = {}
    for signed in ("signed", "unsigned"):
        for name, (level, algorithm, bits) in VALUE_ALGORITHM_AND_KEY_BITS_BY_PRIVACY_LEVEL.items():
            packet = secured.message(body=CLEAR_BODY)
            if signed == "signed":
                packet = sign_message(packet)
            packets[f"{signed}, {name}"] = encrypt_message(sut, packet, level, algorithm, SYMMETRIC_KEYS[bits])
    dispositions = secured.send_and_read_dispositions(packets)
    security = {name: (dispositions[name].found or {}).get("security") or {} for name in packets}
    shown = {name: one.get("privacy_level", "not shown") for name, one in security.items()}
    if set(shown.values()) == {"not shown"} and all(dispositions[name].found for name in packets):
        judge.mark_not_exercised("MQDMPR-3.1.7.1.31-D10", reason="the control channel shows no privacy level")
        return
    judge(
        "MQDMPR-3.1.7.1.31-D10",
        expected={name: name.partition(", ")[2] for name in packets},
        observed=shown,
        case="privacy level of each message",
    )
