"""MS-MQQB 3.1.7.1.5 Encrypting the Message Body: later sessions, queues, queue managers and keys."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, load_long_peer_keys, load_peer_keys
from harness.sut.releases import find_release
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire.protection import AES_128, AES_192, AES_256, BASE_PROVIDER, RC2
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.s3_1_7_01_5_encrypting_the_message_body.changed_keys import change_public_exponent_of_key
from suites.mqqb.steps.caching import SecurityCaches, inspect_queue_manager
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.outgoing_session import OutgoingSession
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqqb.steps.published_keys import publish_public_keys_of_queue_manager, restore_public_keys_at_end_of_check

TEXT = "a body to encrypt"
BODY_SIZES = (0, 15, 16, 4_096, 5_000, 20_000)
"""Sizes of bodies in bytes: no byte, one byte less than a block of AES, whole blocks, and many blocks."""
BLOCK_SIZES = {RC2: 8, AES_128: 16, AES_192: 16, AES_256: 16}
CACHE_DURATION_MS, SHORT_KEY_LIFETIME_MS = 60_000, 30_000
KEY_CACHE_CLEANUP_DELAY_MS = 60_000
"""The time in ms for which a key may stay in the cache after its lifetime (MS-MQQB 3.1.6.11)."""
LATER_MESSAGE_DELAY_MS = 4_000
REPEATED_MESSAGE_TAG, ENHANCED_LEVEL_MESSAGE_TAG, UNENCRYPTABLE_MESSAGE_TAG, UNENCRYPTED_MESSAGE_TAG = 11, 12, 13, 14
"""The application tags of the messages to two queue managers."""


@needs("security", "send", "private_names")
@covers("MQQB-3.1.7.1.5-05", "MQQB-3.1.7.1.5-21", "MQQB-3.1.7.1.5-22")
@pytest.mark.parametrize("level", ["base", "enhanced"])
def test_later_session_and_other_queue_use_cached_key(peer, sut, judge, level):
    """The SUT sends an encrypted message, then a message on a second session, and then a message to another queue of
    the peer. All messages have the same symmetric key, and the peer can decrypt their bodies.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    first = DecryptedMessage(outgoing.send(body=TEXT, privacy_level=level))
    outgoing.start_new_session()
    frames = {"on the second session": outgoing.poll(body=TEXT, privacy_level=level)}
    outgoing.end()
    outgoing.sender.to = f"PRIVATE={peer.identifier}\\00000002"
    outgoing.session = None
    frames["to another queue"] = outgoing.poll(body=TEXT, privacy_level=level)
    outgoing.end()
    later = {case: DecryptedMessage(frame) for case, frame in frames.items() if frame is not None}
    for case, frame in frames.items():
        judge(
            "MQQB-3.1.7.1.5-05",
            expected=holds("the peer can decrypt the body", otherwise="the peer cannot decrypt the body"),
            observed=frame is not None and later[case].body is not None,
            case=f"message {case}",
            evidence=[first.frame, frame],
        )
    judge.conclude("MQQB-3.1.7.1.5-05")
    if len(later) < len(frames):
        raise ConformanceFailure("the SUT did not send every message")
    for case, found in later.items():
        judge(
            "MQQB-3.1.7.1.5-21",
            expected=holds("the message has the key of the first message", otherwise="the message has another key"),
            observed=found.blob == first.blob,
            case=f"message {case}",
            evidence=[first.frame, found.frame],
        )
        judge(
            "MQQB-3.1.7.1.5-22",
            expected=TEXT,
            observed=found.body,
            case=f"decrypted body of the message {case}",
            evidence=[first.frame, found.frame],
        )


def _open_session_to_queue_manager(
    peer, sut, listener, guid: UUID, **message
) -> tuple[OutgoingSession, DecryptedMessage]:
    """Let the SUT send a message to a queue manager at the peer's address; return the session and the message."""
    sut.send(private_name(guid), body=TEXT, **message)
    session = OutgoingSession(peer, sut, listener=listener)
    session.await_request()
    session.respond(ServerGuid=guid)
    return session, DecryptedMessage(session.answer_connection_parameters())


def _await_message(peer, tag: int) -> Frame:
    """Wait for the message with an application tag; raise ConformanceFailure if it does not arrive."""
    came = peer.inbox.wait(lambda frame: read_application_tag(frame) == tag)
    if not came:
        raise ConformanceFailure(f"the message with the application tag {tag} did not arrive")
    return came[0]


@needs("security", "send", "private_names")
@covers("MQQB-3.1.7.1.5-05", "MQQB-3.1.7.1.5-13", "MQQB-3.1.7.1.5-22", "MQQB-3.1.7.1.5-25")
def test_keys_of_two_queue_managers_are_not_mixed(peer, sut, judge):
    """The SUT sends encrypted messages to the peer and to a queue manager that has only a key of the Base provider. The
    SUT caches a key for each of them, uses the first key again for the peer, and does not send a message of level
    Enhanced to the queue manager without the Enhanced key.
    """
    listener = peer.listen_without_core()
    session, first = _open_session_to_queue_manager(peer, sut, listener, peer.identifier, privacy_level="base")
    beside, other = _open_session_to_queue_manager(
        peer, sut, listener, GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY, privacy_level="base"
    )
    sut.send(private_name(peer.identifier), body=TEXT, privacy_level="base", application_tag=REPEATED_MESSAGE_TAG)
    again = DecryptedMessage(_await_message(peer, REPEATED_MESSAGE_TAG))
    judge(
        "MQQB-3.1.7.1.5-22",
        expected=TEXT,
        observed=again.body,
        case="decrypted body of the second message to the peer",
        evidence=[first.frame, other.frame, again.frame],
    )
    judge.conclude("MQQB-3.1.7.1.5-22")
    if sut.has("inspect"):
        found = inspect_queue_manager(sut)
        entries = [*(found.get("SendBaseSymmetricKeyCache") or []), *found[SecurityCaches.SENT_KEY_CACHE]]
        judge(
            "MQQB-3.1.7.1.5-25",
            expected=sorted(map(str, (peer.identifier, GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY))),
            observed=sorted(
                entry["RemoteQMGuid"] for entry in entries if entry["CryptoServiceProvider"] == BASE_PROVIDER
            ),
            case="RemoteQMGuid of the keys of the Base provider",
            evidence=[first.frame, other.frame, again.frame],
        )
    else:
        judge.mark_not_exercised("MQQB-3.1.7.1.5-25", reason="the control channel does not show the cache")
    sut.send(
        private_name(peer.identifier), body=TEXT, privacy_level="enhanced", application_tag=ENHANCED_LEVEL_MESSAGE_TAG
    )
    enhanced = _await_message(peer, ENHANCED_LEVEL_MESSAGE_TAG)
    sut.send(
        private_name(GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY),
        body=TEXT,
        privacy_level="enhanced",
        application_tag=UNENCRYPTABLE_MESSAGE_TAG,
    )
    sut.send(private_name(GUID_OF_PEER_WITH_ONLY_BASE_PROVIDER_KEY), body=TEXT, application_tag=UNENCRYPTED_MESSAGE_TAG)
    clear = _await_message(peer, UNENCRYPTED_MESSAGE_TAG)
    secret = peer.inbox.find(lambda frame: read_application_tag(frame) == UNENCRYPTABLE_MESSAGE_TAG)
    judge(
        "MQQB-3.1.7.1.5-05",
        "MQQB-3.1.7.1.5-13",
        expected=holds("the SUT sends no message of level Enhanced to the queue manager without the key"),
        observed=not secret or "the SUT sends a message of level Enhanced",
        evidence=[enhanced, clear, *secret],
    )
    for one in (session, beside):
        one.connection.acknowledge_all()


@needs("security", "send", "private_names")
@covers("MQQB-3.1.7.1.5-36", "MQQB-3.1.7.1.5-38")
@pytest.mark.parametrize("level", ["base", "enhanced", pytest.param("advanced", marks=covers("MQQB-3.1.7.1.5-37"))])
def test_body_of_each_size_is_encrypted(peer, sut, judge, level):
    """The SUT sends encrypted messages with bodies of several sizes: the peer can decrypt each body, and MessageSize
    and AllocationBodySize are the size of the encrypted body.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    rules = ("MQQB-3.1.7.1.5-36", *(("MQQB-3.1.7.1.5-37",) if level == "advanced" else ()))
    for size in BODY_SIZES:
        text = (TEXT * (size // len(TEXT) + 1))[:size]
        found = DecryptedMessage(outgoing.send(body=text, privacy_level=level))
        judge(*rules, expected=text, observed=found.body, case=f"body of {size} bytes", evidence=found.frame)
        block = BLOCK_SIZES.get(found.algorithm, 1)
        whole = size if block == 1 else (size // block + 1) * block
        judge(
            "MQQB-3.1.7.1.5-38",
            expected=(whole, whole),
            observed=(found.properties.MessageSize, found.properties.AllocationBodySize),
            case=f"MessageSize and AllocationBodySize of a body of {size} bytes",
            evidence=found.frame,
        )
    outgoing.end()


@needs("security", "send", "configure", "private_names", "inspect")
@covers("MQQB-3.1.7.1.5-34")
def test_cleanup_timer_follows_first_key_of_cache(peer, sut, judge):
    """The SUT caches a symmetric key and a second key: the second key does not restart the cleanup timer. When the SUT
    has deleted both keys, the next key starts the timer again.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    caches = SecurityCaches(sut)
    sut.configure(symmetric_key_short_lifetime_ms=SHORT_KEY_LIFETIME_MS, preferred_enhanced="rc4")
    frames = [outgoing.send(body=TEXT, privacy_level="enhanced")]
    started = caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE)
    outgoing.end()
    peer.pass_time(LATER_MESSAGE_DELAY_MS)
    sut.configure(preferred_enhanced="rc2")
    frames.append(outgoing.send(body=TEXT, privacy_level="enhanced"))
    later = caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE)
    if len(caches.entries(SecurityCaches.SENT_KEY_CACHE)) < len(frames):
        judge.mark_not_exercised("MQQB-3.1.7.1.5-34", reason="the SUT does not cache both keys")
        return
    judge(
        "MQQB-3.1.7.1.5-34",
        expected=holds("the second key does not restart the timer", otherwise="the timer does not run on"),
        observed=started is not None and later is not None and later <= started - LATER_MESSAGE_DELAY_MS // 2,
        case="second key",
        evidence=frames,
    )
    outgoing.start_new_session()
    longest_ms = 2 * SHORT_KEY_LIFETIME_MS + KEY_CACHE_CLEANUP_DELAY_MS
    peer.pass_time(sut.duration_ms(longest_ms) + sut.slack_ms(longest_ms))
    if caches.entries(SecurityCaches.SENT_KEY_CACHE):
        return  # the keys of a release with a longer lifetime (note <69>)
    frames.append(outgoing.send(body=TEXT, privacy_level="enhanced"))
    judge(
        "MQQB-3.1.7.1.5-34",
        expected=holds("the timer runs", otherwise="the timer does not run"),
        observed=caches.get_remaining_ms(SecurityCaches.SENT_KEY_CACHE) is not None,
        case="first key after the cleanup",
        evidence=frames,
    )
    outgoing.end()


@needs("security", "send", "configure", "private_names", "inspect", "pause")
@covers("MQQB-3.1.7.1.5-31")
def test_key_of_waiting_message_has_time_of_its_caching(peer, sut, judge):
    """The SUT sends an encrypted message. A second message, for which it needs a new key, waits while its queue is
    paused. CachedTime of the second key is later than that of the first key by the time of the pause.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    caches = SecurityCaches(sut)
    sut.configure(preferred_enhanced="rc4")
    frames = [outgoing.send(body=TEXT, privacy_level="enhanced")]
    outgoing.end()
    sut.pause(outgoing.sender.to)
    sut.configure(preferred_enhanced="rc2")
    sut.send(outgoing.sender.to, body=TEXT, privacy_level="enhanced")
    peer.pass_time(LATER_MESSAGE_DELAY_MS)
    sut.resume(outgoing.sender.to)
    peer.environment.run_until(
        lambda: len(peer.inbox.packets_with_possibly_malformed_messages) > outgoing.seen, sut.connect_timeout_ms
    )
    frames += peer.inbox.packets_with_possibly_malformed_messages[outgoing.seen :]
    times = {entry["CryptoAlgorithm"]: entry["CachedTime"] for entry in caches.entries(SecurityCaches.SENT_KEY_CACHE)}
    peer.inbox.acknowledge()
    if len(times) != 2 or len(frames) != 2:
        raise ConformanceFailure("the SUT did not send both messages, or does not show both keys")
    judge(
        "MQQB-3.1.7.1.5-31",
        expected=holds("CachedTime of the second key is later", otherwise="CachedTime precedes the encryption"),
        observed=max(times.values()) - min(times.values()) >= LATER_MESSAGE_DELAY_MS // 1_000 - 2
        and times[RC2] == max(times.values()),
        evidence=frames,
    )


@needs("security", "send", "public_names")
@covers("MQQB-3.1.7.1.5-25", "MQQB-3.1.7.1.5-41")
def test_message_to_public_queue_names_provider_and_key_of_queue_manager(peer, sut, judge):
    """The SUT sends an encrypted message to a public queue of the peer. ProviderInfo names the provider, and
    RemoteQMGuid of the cached key is the GUID of the peer.
    """
    outgoing = MessagesSentBySut(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    found = DecryptedMessage(outgoing.send(body=TEXT, privacy_level="base"))
    judge(
        "MQQB-3.1.7.1.5-41",
        expected=BASE_PROVIDER + "\0",
        observed=found.provider,
        case="ProviderInfo",
        evidence=found.frame,
    )
    if sut.has("inspect"):
        shown = inspect_queue_manager(sut)
        entries = [*(shown.get("SendBaseSymmetricKeyCache") or []), *shown[SecurityCaches.SENT_KEY_CACHE]]
        judge(
            "MQQB-3.1.7.1.5-25",
            expected=[str(peer.identifier)],
            observed=[entry["RemoteQMGuid"] for entry in entries],
            case="RemoteQMGuid",
            evidence=found.frame,
        )
    else:
        judge.mark_not_exercised("MQQB-3.1.7.1.5-25", reason="the control channel does not show the cache")
    outgoing.end()


@needs("directory", "environment", "security", "send", "configure", "private_names", "set_timers")
@pytest.mark.parametrize(
    ("change", "rule"),
    [
        pytest.param("length", "MQQB-3.1.7.1.5.2-03", marks=covers("MQQB-3.1.7.1.5.2-03"), id="length"),
        pytest.param("exponent", "MQQB-3.1.7.1.5.2-04", marks=covers("MQQB-3.1.7.1.5.2-04"), id="exponent"),
    ],
)
def test_new_symmetric_key_is_encrypted_with_changed_published_key(peer, sut, judge, change, rule):
    """The SUT sends a message encrypted for the peer. Then the directory contains a longer key of the peer, or a key
    with another exponent. The peer can decrypt the next symmetric key with the new private key.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=CACHE_DURATION_MS)
    keys = (
        load_long_peer_keys()
        if change == "length"
        else {name: change_public_exponent_of_key(one) for name, one in load_peer_keys().items()}
    )
    sut.configure(preferred_enhanced="rc2")
    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        first = DecryptedMessage(outgoing.send(body=TEXT, privacy_level="enhanced"))
        publish_public_keys_of_queue_manager(sut, peer.identifier, keys)
        outgoing.start_new_session()
        peer.pass_time(sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS))
        sut.configure(preferred_enhanced="rc4")
        for level in ("enhanced", "advanced") if find_release(sut).has_aes_provider else ("enhanced",):
            frame = outgoing.poll(body=TEXT, privacy_level=level)
            judge(
                rule,
                expected=holds("the peer can decrypt the key", otherwise="the peer cannot decrypt the key"),
                observed=frame is not None and DecryptedMessage(frame, keys).key is not None,
                case=f"symmetric key of a message with the privacy level {level}",
                evidence=[first.frame, frame],
            )
        outgoing.end()
    outgoing.start_new_session()
    peer.pass_time(sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS))
