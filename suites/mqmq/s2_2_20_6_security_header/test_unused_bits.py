"""MS-MQMQ 2.2.20.6 SecurityHeader: the unused bits of Flags."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs, sut_survives
from harness.wire.protection import RC4
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    flip_signature_bit,
    sign_message,
)

ENHANCED_PRIVACY_LEVEL = 3
"""The PrivacyLevel at which bodies are encrypted with keys of 128 bits."""
NO_UNUSED_BIT_CASE, EVERY_UNUSED_BIT_CASE = "no bit", "every unused bit"
"""The names of messages without and with all unused bits."""
LARGE_BODY_BYTES = 5000
"""A size in bytes above 4 KiB."""
ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"

RULE_BY_UNUSED_BIT = {
    "X12": "MQMQ-2.2.20.6-10",
    "X13": "MQMQ-2.2.20.6-11",
    "X14": "MQMQ-2.2.20.6-12",
    "X15": "MQMQ-2.2.20.6-13",
}
"""The rule about each unused bit of Flags."""


@sut_survives()
@covers(*RULE_BY_UNUSED_BIT.values())
def test_any_unused_bit_of_security_header_is_accepted(peer, sut, judge):
    """The peer sends unsigned messages, each with one unused bit of SecurityHeader.Flags set. Each message is in its
    queue.
    """
    sender = {"ST": 2, "SecurityID": peer.identifier.bytes_le}
    for bit, rule in RULE_BY_UNUSED_BIT.items():
        done = deliver_message(peer, peer.recoverable_message(security=sender | {bit: 1}, label=bit), bit)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")


@needs("security", "receive")
@covers(*RULE_BY_UNUSED_BIT.values())
def test_any_unused_bit_leaves_signature_verified(peer, sut, judge):
    """For each unused bit of SecurityHeader.Flags, and for all of them together, the peer sends three messages with
    these bits set. The recoverable message with a genuine signature is in its queue as a recoverable message, with its
    sender. The message with a forged signature is refused. The body of the encrypted message is in its queue as clear
    text.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    packets = {NO_UNUSED_BIT_CASE: sign_message(secured.message())}
    cases = {
        **{bit: {bit: 1} for bit in RULE_BY_UNUSED_BIT},
        EVERY_UNUSED_BIT_CASE: dict.fromkeys(RULE_BY_UNUSED_BIT, 1),
    }
    for case, bits in cases.items():
        packets[f"{case}, genuine"] = sign_message(secured.message(security=bits, header={"DM": 1}))
        packets[f"{case}, forged"] = flip_signature_bit(sign_message(secured.message(security=bits)))
        encrypted = secured.message(body=CLEAR_BODY, security=bits)
        packets[f"{case}, encrypted"] = encrypt_message(
            sut, encrypted, ENHANCED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128]
        )
    found = secured.send_and_read_dispositions(packets)
    for bit, rule in RULE_BY_UNUSED_BIT.items():
        for case in (bit, EVERY_UNUSED_BIT_CASE):
            genuine, forged = found[f"{case}, genuine"], found[f"{case}, forged"]
            shown = all(one.shows_level for one in (genuine, found[NO_UNUSED_BIT_CASE]))
            encrypted = found[f"{case}, encrypted"]
            delivery = None if genuine.found is None else genuine.found.get("delivery", "recoverable")
            judge(
                rule,
                expected=facts(
                    genuine_signature=ARRIVAL_ACK_CLASS,
                    forged_signature=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
                    authentication_level=shown and found[NO_UNUSED_BIT_CASE].level,
                    sender=shown and _get_shown_sender(found[NO_UNUSED_BIT_CASE]),
                    delivery="recoverable",
                    decrypted_body=CLEAR_BODY.decode(),
                ),
                observed={
                    "genuine_signature": genuine.answer,
                    "forged_signature": forged.silent_refusal,
                    "authentication_level": shown and genuine.level,
                    "sender": shown and _get_shown_sender(genuine),
                    "delivery": delivery,
                    "decrypted_body": encrypted.body,
                },
                case=f"message with {case} set",
                evidence=[*genuine.frames, *forged.frames, *encrypted.frames],
            )


def _get_shown_sender(disposition):
    """Return the sender that is shown for a message in its queue, or None if the message is not in its queue or no
    sender is shown.
    """
    return None if disposition.found is None else disposition.found["security"].get("sender")


@needs("security", "receive")
@covers("MQMQ-2.2.20.6-06")
def test_large_body_of_signed_message_is_decrypted(peer, sut, judge):
    """A signed and encrypted message with a body of more than 4 KiB arrives, and then one with a short body. The
    application gets both original bodies.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    bodies = {"large": CLEAR_BODY * (LARGE_BODY_BYTES // len(CLEAR_BODY) + 1), "short": CLEAR_BODY}
    packets = {
        name: encrypt_message(
            sut, sign_message(secured.message(body=body)), ENHANCED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128]
        )
        for name, body in bodies.items()
    }
    for name, found in secured.send_and_read_dispositions(packets).items():
        judge.all(
            expected=bodies[name].decode(), observed=found.body, case=f"{name} body of a message", evidence=found.frames
        )
