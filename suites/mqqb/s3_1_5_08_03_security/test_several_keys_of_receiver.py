"""MS-MQQB 3.1.5.8.3 Security and 3.1.1.3: the receiver's caches when it uses several keys and sessions, and the
lifetime of a cached key when a later key arrives.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import RC4
from suites.mqqb.steps.caching import ENHANCED_PRIVACY_LEVEL, SecurityCaches
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    NO_SIGNATURE_ACCEPTED_REASON,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    sign_message,
)

SHORT_LIFETIME_MS = 120_000
DELAY_BEFORE_SECOND_KEY_MS = 90_000
DELAY_BEFORE_CACHE_CLEANUP_MS = 60_000
"""The time in ms for which a key may stay in the cache after its lifetime (MS-MQQB 3.1.6.10)."""


def _send_message_encrypted_with_key(secured: SecuredMessageSender, key: bytes, queue: str = "plain"):
    """Send a message that is encrypted with a symmetric key; return its disposition and its key blob."""
    message = secured.message(queue=queue, body=CLEAR_BODY)
    packet = encrypt_message(secured.sut, message, ENHANCED_PRIVACY_LEVEL, RC4, key)
    disposition = secured.send_and_read_dispositions({"": packet}, queue)[""]
    return disposition, bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex()


def _list_key_blobs(caches: SecurityCaches) -> list[str]:
    return [entry["EncryptedSymmetricKey"] for entry in caches.entries(caches.RECEIVED_KEY_CACHE)]


@needs("security", "receive", "configure", "inspect")
@covers("MQQB-3.1.5.8.3-55", "MQQB-3.1.5.8.3-67")
def test_each_cached_key_is_used_again(peer, sut, judge):
    """The peer sends messages with two keys alternately, and a transactional message with a third key. The cache
    contains each of the three keys once.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    first, second, third = (SYMMETRIC_KEYS[128][at:] + SYMMETRIC_KEYS[128][:at] for at in (5, 6, 7))
    found = [_send_message_encrypted_with_key(secured, key) for key in (first, second)]
    evidence = [frame for disposition, _ in found for frame in disposition.frames]
    known = [blob for _, blob in found]
    cached = [blob for blob in _list_key_blobs(caches) if blob in known]
    found = [_send_message_encrypted_with_key(secured, key) for key in (first, second)]
    evidence += [frame for disposition, _ in found for frame in disposition.frames]
    again = [blob for blob in _list_key_blobs(caches) if blob in known]
    if sorted(cached) == sorted(known):
        judge(
            "MQQB-3.1.5.8.3-55",
            expected=len(cached),
            observed=len(again),
            case="number of cache entries of two keys after both were used again",
            evidence=evidence,
        )
    else:
        judge.mark_not_exercised("MQQB-3.1.5.8.3-55", reason="the SUT does not cache both keys", evidence=evidence)
    disposition, blob = _send_message_encrypted_with_key(secured, third, "transactional")
    judge(
        "MQQB-3.1.5.8.3-67",
        expected=facts(first_keys=len(known), key_of_transactional_message=1),
        observed={"first_keys": len(set(again)), "key_of_transactional_message": _list_key_blobs(caches).count(blob)},
        case="number of cached keys",
        evidence=[*evidence, *disposition.frames],
    )


@needs("security", "receive", "configure", "inspect")
@covers("MQQB-3.1.1.3-03")
def test_certificate_is_cached_after_end_of_its_session(peer, sut, judge):
    """The peer sends a signed message and closes its session. UserCertCache still contains the certificate."""
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    disposition = secured.send_and_read_dispositions({"": sign_message(secured.message(body=CLEAR_BODY))})[""]
    if disposition.found is None:
        raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)
    secured.open_another_session()
    peer.settle()
    judge(
        "MQQB-3.1.1.3-03",
        expected=[ALICE.name],
        observed=caches.users(),
        case="users in the cache after the end of the session",
        evidence=disposition.frames,
    )


@needs("security", "receive", "configure", "inspect")
@covers("MQQB-3.1.1.3-14")
def test_later_key_does_not_prolong_lifetime_of_received_key(peer, sut, judge):
    """SymmetricKeyShortLifetime is 2 minutes. The peer sends a message with a key, and 1.5 minutes later a message with
    another key. The SUT has removed the first key when its lifetime and one minute have expired.
    """
    secured = SecuredMessageSender(peer, sut, symmetric_key_short_lifetime_ms=SHORT_LIFETIME_MS)
    caches = SecurityCaches(sut)
    first, blob = _send_message_encrypted_with_key(secured, SYMMETRIC_KEYS[128])
    remaining_ms = caches.get_remaining_ms(caches.RECEIVED_KEY_CACHE)
    is_cached = blob in _list_key_blobs(caches)
    if not is_cached or remaining_ms is None or remaining_ms > sut.duration_ms(SHORT_LIFETIME_MS):
        reason = "the SUT does not cache the key, or does not start the cleanup timer with SymmetricKeyShortLifetime"
        judge.mark_not_exercised("MQQB-3.1.1.3-14", reason=reason, evidence=first.frames)
        return
    peer.pass_time(sut.duration_ms(DELAY_BEFORE_SECOND_KEY_MS))
    secured.open_another_session()
    second, later_blob = _send_message_encrypted_with_key(secured, SYMMETRIC_KEYS[128][::-1])
    if later_blob not in _list_key_blobs(caches):
        reason = "the SUT does not cache the later key"
        judge.mark_not_exercised("MQQB-3.1.1.3-14", reason=reason, evidence=second.frames)
        return
    rest_ms = SHORT_LIFETIME_MS + DELAY_BEFORE_CACHE_CLEANUP_MS - DELAY_BEFORE_SECOND_KEY_MS
    peer.pass_time(sut.duration_ms(rest_ms) + sut.slack_ms(rest_ms))
    judge(
        "MQQB-3.1.1.3-14",
        expected=holds("the SUT has removed the first key", otherwise="the first key is still in the cache"),
        observed=blob not in _list_key_blobs(caches),
        evidence=[*first.frames, *second.frames],
    )
