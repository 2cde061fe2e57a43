"""MS-MQQB 3.1.7.1.5.2 Converting MQDSPUBLICKEY to PUBLICKEYBLOB: keys in the directory."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import load_long_peer_keys, load_peer_keys
from harness.sut.releases import find_release
from harness.wire.protection import ENHANCED_PROVIDER
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.published_keys import publish_public_keys_of_queue_manager, restore_public_keys_at_end_of_check

CACHE_DURATION_MS = 60_000


@needs("directory", "environment", "security", "send", "private_names", "set_timers")
@covers("MQQB-3.1.7.1.5.2-03", "MQQB-3.1.7.1.5.2-05")
def test_symmetric_key_is_encrypted_with_longer_published_key(peer, sut, judge):
    """The directory contains keys of 2,048 bits of the peer for the two stronger providers. The peer can decrypt the
    symmetric keys of messages of both privacy levels with its private key of 2,048 bits.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=CACHE_DURATION_MS)
    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        publish_public_keys_of_queue_manager(sut, peer.identifier, load_long_peer_keys())
        first = outgoing.send(body="a message before the keys expire")
        outgoing.start_new_session()
        peer.pass_time(sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS))
        for level in ("enhanced", "advanced") if find_release(sut).has_aes_provider else ("enhanced",):
            frame = outgoing.poll(body=f"encrypted, {level}", privacy_level=level)
            judge.all(
                expected=holds("the peer can decrypt the key", otherwise="the peer cannot decrypt the key"),
                observed=frame is not None and DecryptedMessage(frame, load_long_peer_keys()).key is not None,
                case=f"symmetric key of a message with the privacy level {level}",
                evidence=[first, frame],
            )
        outgoing.end()


@needs("directory", "environment", "security", "send", "private_names", "set_timers")
@covers("MQQB-3.1.7.1.5-04", "MQQB-3.1.7.1.5-18")
def test_message_is_sent_only_with_published_key_of_its_level(peer, sut, judge):
    """The directory contains no public keys of the peer, then all keys except the Enhanced key, and then all keys. The
    SUT does not send a message of level Enhanced without the Enhanced key, and sends a message of this level when the
    directory contains the key.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=CACHE_DURATION_MS)
    lacks = holds("the SUT does not send the message", otherwise="the SUT sends the message")

    def wait_for_new_keys() -> None:
        outgoing.start_new_session()
        peer.pass_time(sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS))

    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        sut.change_directory_object(queue_manager=str(peer.identifier), public_encryption_keys_base64="")
        first = outgoing.send(body="a message without encryption")
        wait_for_new_keys()
        outgoing.poll(body="no key", privacy_level="enhanced")
        publish_public_keys_of_queue_manager(
            sut, peer.identifier, {name: key for name, key in load_peer_keys().items() if name != ENHANCED_PROVIDER}
        )
        wait_for_new_keys()
        frame = outgoing.poll(body="no Enhanced key", privacy_level="enhanced")
        case = "message of level Enhanced without Enhanced key"
        judge("MQQB-3.1.7.1.5-18", expected=lacks, observed=frame is None, case=case, evidence=[first, frame])
    wait_for_new_keys()
    frame = outgoing.poll(body="all keys", privacy_level="enhanced")
    judge(
        "MQQB-3.1.7.1.5-04",
        expected=holds("the peer can decrypt the key", otherwise="the peer cannot decrypt the key"),
        observed=frame is not None and DecryptedMessage(frame).key is not None,
        case="symmetric key of a message after the keys were published",
        evidence=[first, frame],
    )
    outgoing.end()
