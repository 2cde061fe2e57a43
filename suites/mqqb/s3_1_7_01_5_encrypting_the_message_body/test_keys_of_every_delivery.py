"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body and 3.1.1.3: the keys of express, recoverable and transactional
messages, and the lifetime of a cached key when a later key is made.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.caching import SecurityCaches
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name

TEXT = "a body to encrypt"
LATER_KEY_DELAY_MS = 4_000
"""A delay in ms that is so long that CachedTime, in whole seconds, differs."""


@needs("security", "send", "private_names")
@covers("MQQB-3.1.7.1.5-21", "MQQB-3.1.7.1.5-32")
def test_messages_of_every_delivery_have_same_key(peer, sut, judge):
    """The SUT sends an express, a recoverable and two transactional encrypted messages. All messages have the symmetric
    key of the first message.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    opened = [
        DecryptedMessage(outgoing.send(body=TEXT, privacy_level="enhanced", delivery=delivery))
        for delivery in ("express", "recoverable", "transactional", "transactional")
    ]
    if opened[0].key is None:
        raise ConformanceFailure("the peer cannot decrypt the symmetric key of the first message")
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
    """The SUT sends a message with a new key, and later a message with another new key. CachedTime of the first key, at
    which its lifetime begins, stays the same.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    caches = SecurityCaches(sut)
    frames, times = [], []
    for algorithm in ("rc4", "rc2"):
        sut.configure(preferred_enhanced=algorithm)
        frames.append(outgoing.send(body=TEXT, privacy_level="enhanced"))
        outgoing.end()
        entries = caches.entries(SecurityCaches.SENT_KEY_CACHE)
        times.append({one["EncryptedSymmetricKey"]: one["CachedTime"] for one in entries})
        peer.pass_time(LATER_KEY_DELAY_MS)
    first, second = (DecryptedMessage(frame).blob.hex() for frame in frames)
    if first not in times[0] or not {first, second} <= times[1].keys():
        judge.mark_not_exercised("MQQB-3.1.1.3-14", reason="the SUT does not cache both keys", evidence=frames)
        return
    judge(
        "MQQB-3.1.1.3-14",
        expected=times[0][first],
        observed=times[1][first],
        case="CachedTime of the first key after the second message",
        evidence=frames,
    )
