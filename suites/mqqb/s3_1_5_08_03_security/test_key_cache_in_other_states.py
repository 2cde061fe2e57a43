"""MS-MQQB 3.1.5.8.3 Security: ReceiveSymmetricKeyCache after a cleanup, and the key of a refused message."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import between, holds
from harness.run.marks import covers, needs, sut_survives
from harness.sut.provisioning import ALICE, MALLORY, ProvisionedUser
from harness.wire.protection import RC2
from suites.mqqb.steps.caching import ENHANCED_PRIVACY_LEVEL, SecurityCaches
from suites.mqqb.steps.secured import CLEAR_BODY, SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message

SHORT_LIFETIME_MS = 120_000
CLEANUP_DELAY_MS = 60_000
"""The time in ms for which a key may stay in the cache after its lifetime (MS-MQQB 3.1.6.10)."""
REFUSED_MESSAGES: dict[str, dict[str, Any]] = {
    "incomplete block": {"body": b"\x11" * 47},
    "no padding": {"body": bytes(48)},
    "sender without account": {"user": MALLORY},
}
"""The encrypted body or the user of a message that the SUT refuses after it has found the key, by the reason."""


def _send_with_key(secured: SecuredMessageSender, key: bytes, user: ProvisionedUser = ALICE, **changes):
    """Send a message that is encrypted with an RC2 key; return its disposition and its key blob."""
    message = secured.message(user, body=CLEAR_BODY)
    packet = encrypt_message(secured.sut, message, ENHANCED_PRIVACY_LEVEL, RC2, key, **changes)
    disposition = secured.send_and_read_dispositions({"": packet})[""]
    return disposition, bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex()


def _list_key_blobs(caches: SecurityCaches) -> list[str]:
    return [entry["EncryptedSymmetricKey"] for entry in caches.entries(caches.RECEIVED_KEY_CACHE)]


@needs("security", "receive", "configure", "inspect")
@covers("MQQB-3.1.5.8.3-69")
def test_cleanup_timer_starts_for_first_key_after_cleanup(peer, sut, judge):
    """SymmetricKeyShortLifetime is 2 minutes. The peer sends a message with a key, which the SUT removes at a cleanup.
    Then the peer sends a message with another key: the cleanup timer runs again, for SymmetricKeyShortLifetime.
    """
    secured = SecuredMessageSender(peer, sut, symmetric_key_short_lifetime_ms=SHORT_LIFETIME_MS)
    caches = SecurityCaches(sut)
    first, _ = _send_with_key(secured, SYMMETRIC_KEYS[128])
    wait_ms = SHORT_LIFETIME_MS + CLEANUP_DELAY_MS
    peer.pass_time(sut.duration_ms(wait_ms) + sut.slack_ms(wait_ms))
    if _list_key_blobs(caches):
        reason = "the SUT keeps received keys after their lifetime (MS-MQQB note <61>)"
        judge.mark_not_exercised("MQQB-3.1.5.8.3-69", reason=reason, evidence=first.frames)
        return
    secured.open_another_session()
    later, blob = _send_with_key(secured, SYMMETRIC_KEYS[128][::-1])
    if blob not in _list_key_blobs(caches):
        reason = "the SUT does not cache the later key"
        judge.mark_not_exercised("MQQB-3.1.5.8.3-69", reason=reason, evidence=later.frames)
        return
    due_ms = sut.duration_ms(SHORT_LIFETIME_MS)
    judge.all(
        expected=between(due_ms - sut.slack_ms(SHORT_LIFETIME_MS) - 2 * sut.response_timeout_ms, due_ms),
        observed=caches.get_remaining_ms(caches.RECEIVED_KEY_CACHE),
        case="remaining ms of the cleanup timer",
        evidence=[*first.frames, *later.frames],
    )


@sut_survives()
@needs("security", "receive", "configure", "inspect")
@covers("MQQB-3.1.5.8.3-67")
@pytest.mark.parametrize("reason", REFUSED_MESSAGES)
def test_key_of_refused_message_is_cached(peer, sut, judge, reason):
    """The peer sends a message with a valid key. The SUT refuses the message, because the body cannot be decrypted or
    the sender has no account. The SUT adds the key to ReceiveSymmetricKeyCache before it refuses the message.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    disposition, blob = _send_with_key(secured, SYMMETRIC_KEYS[128], **REFUSED_MESSAGES[reason])
    judge.all(
        expected=holds("the cache contains the key", otherwise="the cache does not contain the key"),
        observed=blob in _list_key_blobs(caches),
        evidence=disposition.frames,
    )
