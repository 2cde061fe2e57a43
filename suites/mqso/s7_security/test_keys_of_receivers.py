"""MS-MQSO 6.1.5.5, 6.4.3.2, 7.4.1.4.3: the public keys of several receivers with which the SUT encrypts."""

from __future__ import annotations

from collections.abc import Mapping

from harness.capture.recorder import Frame
from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.provisioning import GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, load_peer_keys, load_second_peer_keys
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from harness.wire.protection import BASE_PROVIDER, RsaKey
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.published_keys import publish_public_keys_of_queue_manager, restore_public_keys_at_end_of_check
from suites.mqqb.steps.sender import Sender

CACHE_DURATION_MS = 60_000
PRIVACY_LEVEL_NAMES = ("base", "enhanced", "advanced")
NEEDED_FACILITIES = needs("directory", "environment", "security", "send", "private_names", "set_timers")


def _is_encrypted_with_keys(frame: Frame, keys: Mapping[str, RsaKey]) -> bool:
    return DecryptedMessage(frame, keys).key is not None


@NEEDED_FACILITIES
@covers("MQSO-6.1.5.5-01", "MQSO-7.4.1.4.3-D01")
def test_routed_message_is_encrypted_for_its_destination(peer, sut, judge):
    """The SUT sends encrypted messages for a queue manager of another site to the peer, which is the site gate. The
    messages are encrypted with the public keys of the destination, which differ from those of the peer.
    """
    with restore_public_keys_at_end_of_check(sut, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE):
        publish_public_keys_of_queue_manager(sut, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE, load_second_peer_keys())
        peer.settle()
        outgoing = MessagesSentBySut(peer, sut, f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}")
        for level in PRIVACY_LEVEL_NAMES:
            frame = outgoing.send(body=level, privacy_level=level)
            observed = _is_encrypted_with_keys(frame, load_second_peer_keys())
            case = f"encrypted for the destination ({level})"
            judge.all(expected=True, observed=observed, case=case, evidence=frame)
        outgoing.end()


@NEEDED_FACILITIES
@covers("MQSO-6.4.3.2-D02")
def test_public_keys_of_second_receiver_expire(peer, sut, judge):
    """While the SUT has the public keys of the peer in its cache, it reads the keys of a second receiver. When the keys
    of the second receiver have changed and the cache timer has expired, the SUT encrypts for the second receiver with
    the new keys.
    """
    sut.set_timers(public_key_cache_ms=CACHE_DURATION_MS)
    with restore_public_keys_at_end_of_check(sut, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE):
        publish_public_keys_of_queue_manager(sut, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE, load_peer_keys())
        peer.settle()
        outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
        outgoing.send(body="to the peer", privacy_level="base")
        outgoing.start_new_session()
        outgoing.sender.to = f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}"
        outgoing.send(body="to the second receiver", privacy_level="base")
        began_ms = peer.recorder.elapsed_ms()
        publish_public_keys_of_queue_manager(sut, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE, load_second_peer_keys())
        outgoing.start_new_session()
        expiry_ms = sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS) + sut.response_timeout_ms
        peer.pass_time_until(began_ms, expiry_ms)
        frame = outgoing.send(body="after the expiry", privacy_level="enhanced")
        observed = _is_encrypted_with_keys(frame, load_second_peer_keys())
        judge.all(expected=True, observed=observed, case="encrypted with the new keys", evidence=frame)
        outgoing.end()


@needs("security", "send", "private_names")
@covers("MQSO-6.1.5.5-01", "MQSO-7.4.1.4.3-01")
def test_message_is_not_encrypted_for_provider_without_key(peer, sut, judge):
    """The receiver has a public key only for the base provider. Messages that request a stronger privacy level are
    either not sent, or encrypted for the base provider.
    """
    peer.configure(identifier=GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY)
    sender = Sender(peer, sut, private_name(GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY))
    base_key = {BASE_PROVIDER: load_peer_keys()[BASE_PROVIDER]}
    sender.send(1)
    for tag, level in enumerate(PRIVACY_LEVEL_NAMES[1:], 2):
        sut.attempt(sender.send, tag, privacy_level=level)
    sender.send(4)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 2)
    encrypted = [one for one in map(DecryptedMessage, frames) if one.encrypted]
    wrong = [one.provider for one in encrypted if not _is_encrypted_with_keys(one.frame, base_key)]
    expected = none("message encrypted for a provider without a key")
    judge.all(expected=expected, observed=wrong, evidence=frames)
    session.acknowledge_all()
