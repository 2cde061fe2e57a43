"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body and 3.1.1.3: keys of messages of every delivery, and the lifetime of
a cached key when a later key is made.
"""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqmq.steps.outgoing import Outgoing
from suites.mqqb.steps.caching import SecurityCaches
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name

TEXT = "a body to encrypt"
SHORT_LIFETIME_MS = 120_000
LATER_KEY_DELAY_MS = 90_000
CLEANUP_DELAY_MS = 60_000
"""The time in ms for which a key may stay in the cache after its lifetime (MS-MQQB 3.1.6.11)."""


@needs("security", "send", "private_names")
@covers("MQQB-3.1.7.1.5-21", "MQQB-3.1.7.1.5-32")
def test_messages_of_every_delivery_have_same_key(peer, sut, judge):
    """The SUT sends an express, a recoverable and two transactional encrypted messages. All messages have the symmetric
    key of the first message.
    """
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    opened = [
        DecryptedMessage(outgoing.send(body=TEXT, privacy_level="enhanced", delivery=delivery))
        for delivery in ("express", "recoverable", "transactional", "transactional")
    ]
    for number, found in enumerate(opened[1:], 2):
        judge(
            "MQQB-3.1.7.1.5-21",
            "MQQB-3.1.7.1.5-32",
            expected=holds("the message has the key of the first message", otherwise="the message has another key"),
            observed=found.blob == opened[0].blob,
            case=f"message {number}",
            evidence=[opened[0].frame, found.frame],
        )
    outgoing.end()


@needs("security", "send", "configure", "private_names", "inspect")
@covers("MQQB-3.1.1.3-14")
def test_later_key_does_not_prolong_lifetime_of_sent_key(peer, sut, judge):
    """SymmetricKeyShortLifetime is 2 minutes. The SUT sends a message with a new key, and 1.5 minutes later a message
    with another new key. The SUT has removed the first key when its lifetime and one minute have expired.
    """
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    caches = SecurityCaches(sut)
    sut.configure(symmetric_key_short_lifetime_ms=SHORT_LIFETIME_MS, preferred_enhanced="rc4")
    frames = [outgoing.send(body=TEXT, privacy_level="enhanced")]
    entries = caches.entries(SecurityCaches.SENT_KEY_CACHE)
    remaining_ms = caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE)
    if not entries or remaining_ms is None or remaining_ms > sut.duration_ms(SHORT_LIFETIME_MS):
        reason = "the SUT does not start the cleanup timer with SymmetricKeyShortLifetime"
        judge.mark_not_exercised("MQQB-3.1.1.3-14", reason=reason, evidence=frames)
        return
    outgoing.end()
    peer.pass_time(sut.duration_ms(LATER_KEY_DELAY_MS))
    sut.configure(preferred_enhanced="rc2")
    frames.append(outgoing.send(body=TEXT, privacy_level="enhanced"))
    outgoing.end()
    rest_ms = SHORT_LIFETIME_MS + CLEANUP_DELAY_MS - LATER_KEY_DELAY_MS
    peer.pass_time(sut.duration_ms(rest_ms) + sut.slack_ms(rest_ms))
    blobs = [entry["EncryptedSymmetricKey"] for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)]
    judge(
        "MQQB-3.1.1.3-14",
        expected=holds("the SUT has removed the first key", otherwise="the first key is still in the cache"),
        observed=entries[0]["EncryptedSymmetricKey"] not in blobs,
        evidence=frames,
    )
