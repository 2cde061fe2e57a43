"""MS-MQQB 3.1.5.8.3 Security: keys and certificates that are kept; MS-MQQB 3.1.1.3: the caches."""

from __future__ import annotations

import hashlib
from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, ERIN
from harness.wire.protection import AES_128, AES_192, AES_256, LEVELS, RC2, RC4, listed_keys, simple_blob
from suites.mqqb.steps.caching import CERTIFICATES, RECEIVE, about, cached, manager, remaining_ms, users
from suites.mqqb.steps.secured import CLEAR, KEY, OTHER_BYTES, Secured, secret, signed

NEEDS = needs("security", "receive", "configure", "inspect")
ENHANCED = 3
PROVIDER = LEVELS[ENHANCED]
WAYS = (
    (1, RC2, 40),
    (1, RC4, 40),
    (ENHANCED, RC2, 128),
    (ENHANCED, RC4, 128),
    (5, AES_128, 128),
    (5, AES_192, 192),
    (5, AES_256, 256),
)
"""PrivacyLevel, algorithm and bits of its key."""
LATER_MS = 3_000
"""Longer than the difference that CachedTime, in seconds, can show."""
LONG = 100
"""Lifetimes that a cleanup timer may run for without having been started again: how many are right is another rule."""


@NEEDS
@covers(
    "MQQB-3.1.5.8.3-29",
    "MQQB-3.1.5.8.3-30",
    "MQQB-3.1.5.8.3-31",
    "MQQB-3.1.5.8.3-32",
    "MQQB-3.1.5.8.3-33",
    "MQQB-3.1.5.8.3-34",
    "MQQB-3.1.5.8.3-36",
    "MQQB-3.1.1.3-02",
    "MQQB-3.1.1.3-03",
    "MQQB-3.1.1.3-05",
)
def test_a_verified_certificate_is_cached(peer, sut, judge):
    """One entry for the user and the certificate; the timer starts with the first and runs on with the second.

    A message that brings no certificate, a while before, starts no timer of theirs.
    """
    secured = Secured(peer, sut)
    secured.dispositions({"": secret(sut, secured.message(body=CLEAR), ENHANCED, RC4, KEY[128])})
    peer.pass_time(2 * sut.response_timeout_ms)
    before = users(sut)
    disposition = secured.dispositions({"": signed(secured.message(body=CLEAR))})[""]
    if disposition.found is None:
        raise ConformanceFailure(OTHER_BYTES)
    entries, now_s = cached(sut, CERTIFICATES), peer.environment.now().utc_s
    evidence = disposition.frames
    judge(
        "MQQB-3.1.5.8.3-29",
        "MQQB-3.1.5.8.3-34",
        "MQQB-3.1.1.3-02",
        "MQQB-3.1.1.3-03",
        expected=facts(before=[], after=["alice"]),
        observed={"before": before, "after": users(sut)},
        evidence=evidence,
    )
    entry: dict[str, Any] = entries[0] if entries else {"UserCert": {}, "SecurityID": "", "CachedTime": 0}
    certificate = entry["UserCert"].get("Certificate")
    judge("MQQB-3.1.5.8.3-30", expected=ALICE.certificate.hex(), observed=certificate, evidence=evidence)
    digest = hashlib.md5(ALICE.certificate, usedforsecurity=False).hexdigest()  # MS-MQMQ 2.2.22
    shown = entry["UserCert"].get("Digest", digest)
    judge("MQQB-3.1.5.8.3-30", expected=digest, observed=shown, case="Digest", evidence=evidence)
    judge("MQQB-3.1.5.8.3-31", expected=ALICE.security_id.hex(), observed=entry["SecurityID"], evidence=evidence)
    judge(
        "MQQB-3.1.5.8.3-32", "MQQB-3.1.5.8.3-33", expected=about(now_s), observed=entry["CachedTime"], evidence=evidence
    )
    whole = manager(sut)["UserCertLifetime"]
    due, slack = sut.duration_ms(whole), sut.slack_ms(whole)
    first = remaining_ms(sut, CERTIFICATES)
    peer.pass_time(LATER_MS)
    secured.dispositions({"": signed(secured.message(BOB), key=BOB.key)})
    second = remaining_ms(sut, CERTIFICATES)
    observed = first if second is None or first is None or second <= first - LATER_MS // 2 else "started again"
    judge(
        "MQQB-3.1.5.8.3-36",
        "MQQB-3.1.1.3-05",
        expected=between(due - slack - sut.response_timeout_ms, due),
        observed=observed,
        evidence=evidence,
    )


@NEEDS
@covers("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04")
def test_the_oldest_half_leaves_a_full_cache_of_certificates(peer, sut, judge):
    """Four entries fit: a fifth lets the two oldest go."""
    secured = Secured(peer, sut, user_cert_cache_size=4)
    evidence = []
    for user in (ALICE, BOB, CAROL, DAVE):
        disposition = secured.dispositions({"": signed(secured.message(user), key=user.key)})[""]
        if disposition.found is None:
            raise ConformanceFailure(OTHER_BYTES)
        evidence += disposition.frames
        peer.pass_time(LATER_MS)
    full = users(sut)
    evidence += secured.dispositions({"": signed(secured.message(ERIN), key=ERIN.key)})[""].frames
    judge.all(
        expected=facts(full=["alice", "bob", "carol", "dave"], later=["carol", "dave", "erin"]),
        observed={"full": full, "later": users(sut)},
        evidence=evidence[-6:],
    )


@NEEDS
@covers(
    "MQQB-3.1.5.8.3-55",
    "MQQB-3.1.5.8.3-57",
    "MQQB-3.1.5.8.3-58",
    "MQQB-3.1.5.8.3-59",
    "MQQB-3.1.5.8.3-60",
    "MQQB-3.1.5.8.3-61",
    "MQQB-3.1.5.8.3-62",
    "MQQB-3.1.5.8.3-66",
    "MQQB-3.1.5.8.3-67",
    "MQQB-3.1.5.8.3-69",
    "MQQB-3.1.1.3-06",
    "MQQB-3.1.1.3-07",
    "MQQB-3.1.1.3-14",
)
def test_the_key_of_a_received_message_is_cached(peer, sut, judge):
    """One entry for sender, provider, algorithm and blob, also after a second message with the same key.

    A message that brings no key, a while before, starts no timer of theirs.
    """
    secured = Secured(peer, sut)
    secured.dispositions({"": signed(secured.message(body=CLEAR))})
    peer.pass_time(3 * sut.response_timeout_ms)
    before = len(cached(sut, RECEIVE))

    def message(key=KEY[128]):
        return secret(sut, secured.message(body=CLEAR), ENHANCED, RC4, key)

    disposition = secured.dispositions({"": message()})[""]
    entries, now_s = cached(sut, RECEIVE), peer.environment.now().utc_s
    evidence = disposition.frames
    judge(
        "MQQB-3.1.5.8.3-67",
        expected=facts(before=0, after=1),
        observed={"before": before, "after": len(entries)},
        evidence=evidence,
    )
    entry = entries[0] if entries else dict.fromkeys(("RemoteQMGuid", "EncryptedSymmetricKey"), "") | {"CachedTime": 0}
    for rule, element, expected in (
        ("MQQB-3.1.5.8.3-59", "RemoteQMGuid", str(peer.identifier)),
        ("MQQB-3.1.5.8.3-60", "CryptoServiceProvider", PROVIDER),
        ("MQQB-3.1.5.8.3-61", "CryptoAlgorithm", RC4),
        ("MQQB-3.1.5.8.3-62", "EncryptedSymmetricKey", bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex()),
    ):
        judge(rule, expected=expected, observed=entry.get(element), evidence=evidence)
    judge("MQQB-3.1.5.8.3-66", expected=about(now_s), observed=entry["CachedTime"], evidence=evidence)
    again = secured.dispositions({"": message()})[""]
    known = len(cached(sut, RECEIVE))
    judge("MQQB-3.1.5.8.3-55", expected=1, observed=known, evidence=[*evidence, *again.frames])
    whole = manager(sut)["SymmetricKeyShortLifetime"]
    due, slack = sut.duration_ms(whole), sut.slack_ms(whole)
    first = remaining_ms(sut, RECEIVE)
    peer.pass_time(LATER_MS)
    another = secured.dispositions({"": message(KEY[128][::-1])})[""]
    second = remaining_ms(sut, RECEIVE)
    counts = [before, len(entries), len(cached(sut, RECEIVE)) - known]
    judge(
        "MQQB-3.1.5.8.3-57",
        "MQQB-3.1.5.8.3-58",
        "MQQB-3.1.1.3-06",
        "MQQB-3.1.1.3-07",
        expected=[0, 1, 1],
        observed=counts,
        case="entries before, after, and for another key",
        evidence=[*evidence, *another.frames],
    )
    observed = first if second is None or first is None or second <= first - LATER_MS // 2 else "started again"
    soonest = due - slack - 2 * sut.response_timeout_ms
    for rule, latest in (("MQQB-3.1.5.8.3-69", LONG * due), ("MQQB-3.1.1.3-14", due)):
        judge(rule, expected=between(soonest, latest), observed=observed, evidence=evidence)


@NEEDS
@covers("MQQB-3.1.5.8.3-60", "MQQB-3.1.5.8.3-61", "MQQB-3.1.5.8.3-67")
def test_keys_of_every_provider_are_cached(peer, sut, judge):
    """A message of each level with each of its algorithms makes an entry of one cache. Windows XP has two (<60>)."""
    secured = Secured(peer, sut)
    frames = []
    for level, algorithm, bits in WAYS:
        packet = secret(sut, secured.message(body=CLEAR), level, algorithm, KEY[bits])
        frames += secured.dispositions({"": packet})[""].frames
    expected = [(LEVELS[level], algorithm) for level, algorithm, _ in WAYS]
    entries = [(entry.get("CryptoServiceProvider"), entry.get("CryptoAlgorithm")) for entry in cached(sut, RECEIVE)]
    judge("MQQB-3.1.5.8.3-67", expected=len(expected), observed=len(entries), evidence=frames)
    for at, rule in enumerate(("MQQB-3.1.5.8.3-60", "MQQB-3.1.5.8.3-61")):
        observed = [entry[at] for entry in entries]
        judge(rule, expected=[way[at] for way in expected], observed=observed, evidence=frames)


@NEEDS
@covers("MQQB-3.1.5.8.3-67", "MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09")
def test_the_oldest_half_leaves_a_full_cache_of_keys(peer, sut, judge):
    """Four keys fit: a fifth lets the two oldest go."""
    secured = Secured(peer, sut, receive_symmetric_key_cache_size=4)
    receiver = listed_keys(sut.receiving_keys)[PROVIDER]
    keys = [bytes([number]) * 16 for number in range(1, 6)]
    names = {simple_blob(RC4, key, receiver).hex(): str(key[0]) for key in keys}

    def known():
        return [names.get(entry["EncryptedSymmetricKey"], "?") for entry in cached(sut, RECEIVE)]

    evidence = []
    for key in keys[:4]:
        evidence += secured.dispositions({"": secret(sut, secured.message(body=CLEAR), ENHANCED, RC4, key)})[""].frames
        peer.pass_time(LATER_MS)
    full = known()
    judge(
        "MQQB-3.1.5.8.3-67", expected=holds("cached", otherwise="nothing"), observed=bool(full), evidence=evidence[-1]
    )
    evidence += secured.dispositions({"": secret(sut, secured.message(body=CLEAR), ENHANCED, RC4, keys[4])})[""].frames
    judge(
        "MQQB-3.1.5.8.3-68",
        "MQQB-3.1.1.3-09",
        expected=facts(full=[*"1234"], later=[*"345"]),
        observed={"full": full, "later": known()},
        evidence=evidence[-6:],
    )
