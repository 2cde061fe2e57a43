"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body: a published list that has lost a key, or has keys with different
exponents.
"""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import load_peer_keys
from harness.sut.releases import find_release
from harness.wire.protection import ADVANCED_PROVIDER, BASE_PROVIDER
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.changed_keys import (
    PUBLIC_KEY_CACHE_MS,
    await_published_keys,
    change_public_exponent_of_key,
)
from suites.mqqb.steps.caching import ADVANCED_PRIVACY_LEVEL
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.published_keys import publish_public_keys_of_queue_manager, restore_public_keys_at_end_of_check

TEXT = "a body to encrypt"


@needs("directory", "environment", "security", "send", "private_names", "set_timers")
@covers("MQQB-3.1.7.1.5-15")
def test_advanced_message_is_not_sent_after_its_key_was_withdrawn(peer, sut, judge):
    """The SUT sends a message of level Advanced to the peer. Then the directory no longer contains the peer's key of
    the AES provider. The SUT sends a message without encryption, and no further message of level Advanced.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=PUBLIC_KEY_CACHE_MS)
    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        first = outgoing.send(body=TEXT, privacy_level="advanced")
        keys = load_peer_keys()
        del keys[ADVANCED_PROVIDER]
        publish_public_keys_of_queue_manager(sut, peer.identifier, keys)
        await_published_keys(outgoing)
        clear = outgoing.send(body=TEXT)
        later = outgoing.poll(body=TEXT, privacy_level="advanced")
        sent = later is not None and int(later["MessagePropertiesHeader"].PrivacyLevel) == ADVANCED_PRIVACY_LEVEL
        judge(
            "MQQB-3.1.7.1.5-15",
            expected=holds("the SUT sends no message of level Advanced after the key was withdrawn"),
            observed=not sent,
            evidence=[first, clear, later],
        )
    await_published_keys(outgoing)


@needs("directory", "environment", "security", "send", "configure", "private_names", "set_timers")
@covers("MQQB-3.1.7.1.5.2-04")
def test_each_published_key_is_used_with_its_own_exponent(peer, sut, judge):
    """The peer's keys in the directory have different exponents: that of the Base provider is larger than the others.
    The SUT encrypts a new symmetric key of level Enhanced or Advanced. The peer can decrypt the key.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=PUBLIC_KEY_CACHE_MS)
    sut.configure(preferred_enhanced="rc2")
    keys = load_peer_keys()
    keys[BASE_PROVIDER] = change_public_exponent_of_key(keys[BASE_PROVIDER])
    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        first = outgoing.send(body=TEXT, privacy_level="enhanced")
        publish_public_keys_of_queue_manager(sut, peer.identifier, keys)
        await_published_keys(outgoing)
        sut.configure(preferred_enhanced="rc4")
        for level in ("enhanced", "advanced") if find_release(sut).has_aes_provider else ("enhanced",):
            frame = outgoing.poll(body=TEXT, privacy_level=level)
            judge(
                "MQQB-3.1.7.1.5.2-04",
                expected=holds("the peer can decrypt the key", otherwise="the peer cannot decrypt the key"),
                observed=frame is not None and DecryptedMessage(frame, keys).key is not None,
                case=f"symmetric key of a message with the privacy level {level}",
                evidence=[first, frame],
            )
    await_published_keys(outgoing)
