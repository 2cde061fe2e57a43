"""MS-MQMQ 2.2.20.6 SecurityHeader: the unused bits of Flags."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs, sut_survives
from harness.wire.protection import RC4
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    Secured,
    encrypt_message,
    flip_signature_bit,
    sign_message,
)

ENHANCED = 3
"""The PrivacyLevel at which bodies are encrypted with keys of 128 bits."""
ARRIVED, BAD_SIGNATURE = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"

UNUSED_BITS_BY_RULE = {
    "X12": "MQMQ-2.2.20.6-10",
    "X13": "MQMQ-2.2.20.6-11",
    "X14": "MQMQ-2.2.20.6-12",
    "X15": "MQMQ-2.2.20.6-13",
}
"""The rule about each unused bit of Flags."""


@sut_survives()
@covers(*UNUSED_BITS_BY_RULE.values())
def test_any_unused_bit_of_security_header_is_accepted(peer, sut, judge):
    """The peer sends unsigned messages with each unused bit of SecurityHeader.Flags set: each
    message is in its queue.
    """
    sender = {"ST": 2, "SecurityID": peer.identifier.bytes_le}
    for bit, rule in UNUSED_BITS_BY_RULE.items():
        done = deliver_message(peer, peer.recoverable_message(security=sender | {bit: 1}, label=bit), bit)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@needs("security", "receive")
@covers(*UNUSED_BITS_BY_RULE.values())
def test_any_unused_bit_leaves_signature_verified(peer, sut, judge):
    """The peer sends three messages with each unused bit of SecurityHeader.Flags set: the recoverable message with a
    genuine signature is in its queue as recoverable, the message with a forged signature is refused, and the body of
    the encrypted message is in its queue as clear text.
    """
    secured = Secured(peer, sut)
    secured.agree_on_signatures()
    packets = {"no bit": sign_message(secured.message())}
    for bit in UNUSED_BITS_BY_RULE:
        packets[f"{bit}, genuine"] = sign_message(secured.message(security={bit: 1}, header={"DM": 1}))
        packets[f"{bit}, forged"] = flip_signature_bit(sign_message(secured.message(security={bit: 1})))
        encrypted = secured.message(body=CLEAR_BODY, security={bit: 1})
        packets[f"{bit}, encrypted"] = encrypt_message(sut, encrypted, ENHANCED, RC4, SYMMETRIC_KEYS[128])
    found = secured.dispositions(packets)
    for bit, rule in UNUSED_BITS_BY_RULE.items():
        genuine, forged = found[f"{bit}, genuine"], found[f"{bit}, forged"]
        shown = all(one.shows_level for one in (genuine, found["no bit"]))
        encrypted = found[f"{bit}, encrypted"]
        delivery = None if genuine.found is None else genuine.found.get("delivery", "recoverable")
        judge(
            rule,
            expected=facts(
                genuine_signature=ARRIVED,
                forged_signature=secured.refused_without_storing(BAD_SIGNATURE),
                authentication_level=shown and found["no bit"].level,
                delivery="recoverable",
                decrypted_body=CLEAR_BODY.decode(),
            ),
            observed={
                "genuine_signature": genuine.answer,
                "forged_signature": forged.silent_refusal,
                "authentication_level": shown and genuine.level,
                "delivery": delivery,
                "decrypted_body": encrypted.body,
            },
            case=f"message with {bit} set",
            evidence=[*genuine.frames, *forged.frames, *encrypted.frames],
        )
