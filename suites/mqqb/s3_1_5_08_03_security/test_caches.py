"""MS-MQQB 3.1.5.8.3 Security and 3.1.1.3: the caches of certificates and symmetric keys."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, holds
from harness.run.marks import covers, malforms, needs
from harness.sut.provisioning import ALICE, BOB, CAROL, DAVE, ERIN, MALLORY
from harness.wire import protection
from suites.mqqb.steps.caching import SecurityCaches, expect_current_time, inspect_queue_manager
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.secured import (
    CLEAR_BODY,
    NO_SIGNATURE_ACCEPTED_REASON,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    sign_message,
)

NEEDED_SECURITY_FACILITIES = needs("security", "receive", "configure", "inspect")
ENHANCED_PRIVACY_LEVEL = 3
ENHANCED_PROVIDER_NAME = protection.PROVIDER_BY_PRIVACY_LEVEL[ENHANCED_PRIVACY_LEVEL]
PRIVACY_LEVEL_ALGORITHM_AND_KEY_BITS = (
    (1, protection.RC2, 40),
    (1, protection.RC4, 40),
    (ENHANCED_PRIVACY_LEVEL, protection.RC2, 128),
    (ENHANCED_PRIVACY_LEVEL, protection.RC4, 128),
    (5, protection.AES_128, 128),
    (5, protection.AES_192, 192),
    (5, protection.AES_256, 256),
)
"""The kinds of encryption: PrivacyLevel, algorithm, and number of bits of the key."""
DELAY_BETWEEN_CACHED_ENTRIES_MS = 3_000
"""A delay in ms that is so long that CachedTime, in whole seconds, differs."""
DAY_S = 86_400
LONGEST_TIMER_IN_LIFETIMES = 100
"""The longest accepted duration of a cleanup timer, in lifetimes. A separate rule judges the exact duration."""


@NEEDED_SECURITY_FACILITIES
@covers(
    "MQQB-3.1.5.8.3-28",
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
def test_certificate_of_a_signed_message_is_cached(peer, sut, judge):
    """The peer sends a signed message. The SUT adds one entry to UserCertCache and starts the cleanup timer. A second
    entry does not restart the timer, and another message with the first certificate does not extend the lifetime of the
    first entry.

    An earlier message without a certificate does not start the timer. A refused certificate is not added. A
    transactional and an encrypted message each add the certificate of their user.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    secured.send_and_read_dispositions(
        {
            "": encrypt_message(
                sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC4, SYMMETRIC_KEYS[128]
            )
        }
    )
    peer.pass_time(2 * sut.response_timeout_ms)
    initial_users = caches.users()
    yesterday = {"SentTime": peer.environment.now().utc_s - DAY_S}
    disposition = secured.send_and_read_dispositions(
        {"": sign_message(secured.message(body=CLEAR_BODY, header=yesterday))}
    )[""]
    if disposition.found is None:
        raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)
    entries, now_s = caches.entries(caches.CERTIFICATE_CACHE), peer.environment.now().utc_s
    evidence = disposition.frames
    judge(
        "MQQB-3.1.5.8.3-29",
        "MQQB-3.1.5.8.3-34",
        "MQQB-3.1.1.3-02",
        "MQQB-3.1.1.3-03",
        expected=facts(users_in_the_cache_before=[], users_in_the_cache_after=["alice"]),
        observed={"users_in_the_cache_before": initial_users, "users_in_the_cache_after": caches.users()},
        evidence=evidence,
    )
    entry: dict[str, Any] = entries[0] if entries else {"UserCert": {}, "SecurityID": "", "CachedTime": 0}
    certificate = entry["UserCert"].get("Certificate")
    judge(
        "MQQB-3.1.5.8.3-30", expected=ALICE.certificate.hex(), observed=certificate, case="UserCert", evidence=evidence
    )
    digest = hashlib.md5(ALICE.certificate, usedforsecurity=False).hexdigest()  # MS-MQMQ 2.2.22
    shown_digest = entry["UserCert"].get("Digest", digest)
    judge("MQQB-3.1.5.8.3-30", expected=digest, observed=shown_digest, case="Digest of UserCert", evidence=evidence)
    judge(
        "MQQB-3.1.5.8.3-31",
        expected=ALICE.security_id.hex(),
        observed=entry["SecurityID"],
        case="SecurityID",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.5.8.3-32",
        "MQQB-3.1.5.8.3-33",
        expected=expect_current_time(now_s),
        observed=entry["CachedTime"],
        case="CachedTime",
        evidence=evidence,
    )
    lifetime_ms = inspect_queue_manager(sut)["UserCertLifetime"]
    due, slack = sut.duration_ms(lifetime_ms), sut.slack_ms(lifetime_ms)
    first_remaining_ms = caches.get_remaining_ms(caches.CERTIFICATE_CACHE)
    peer.pass_time(DELAY_BETWEEN_CACHED_ENTRIES_MS)
    second = secured.send_and_read_dispositions({"": sign_message(secured.message(BOB), key=BOB.key)})[""]
    second_remaining_ms = caches.get_remaining_ms(caches.CERTIFICATE_CACHE)
    now_s = peer.environment.now().utc_s
    judge_second_cache_entry(
        judge,
        caches.entries(caches.CERTIFICATE_CACHE),
        {
            "MQQB-3.1.5.8.3-28": ("SecurityID", BOB.security_id.hex()),
            "MQQB-3.1.5.8.3-34": ("SecurityID", BOB.security_id.hex()),
            "MQQB-3.1.5.8.3-29": ("SecurityID", BOB.security_id.hex()),
            "MQQB-3.1.5.8.3-31": ("SecurityID", BOB.security_id.hex()),
            "MQQB-3.1.5.8.3-30": ("UserCert.Certificate", BOB.certificate.hex()),
            "MQQB-3.1.1.3-02": ("UserCert.Certificate", BOB.certificate.hex()),
            "MQQB-3.1.5.8.3-32": ("CachedTime", expect_later_cached_time(entry, now_s)),
            "MQQB-3.1.5.8.3-33": ("CachedTime", expect_later_cached_time(entry, now_s)),
        },
        second.frames,
    )
    judge(
        "MQQB-3.1.1.3-02",
        expected=["alice", "bob"],
        observed=sorted(caches.users()),
        case="users in the cache after the second message",
        evidence=second.frames,
    )
    observed = (
        first_remaining_ms
        if second_remaining_ms is None
        or first_remaining_ms is None
        or second_remaining_ms <= first_remaining_ms - DELAY_BETWEEN_CACHED_ENTRIES_MS // 2
        else "restarted"
    )
    judge(
        "MQQB-3.1.5.8.3-36",
        "MQQB-3.1.1.3-05",
        expected=between(due - slack - sut.response_timeout_ms, due),
        observed=observed,
        case="remaining ms of the cleanup timer",
        evidence=evidence,
    )
    peer.pass_time(DELAY_BETWEEN_CACHED_ENTRIES_MS)
    again = secured.send_and_read_dispositions({"": sign_message(secured.message(body=CLEAR_BODY))})[""]
    times = {one["SecurityID"]: one["CachedTime"] for one in caches.entries(caches.CERTIFICATE_CACHE)}
    judge(
        "MQQB-3.1.5.8.3-32",
        "MQQB-3.1.1.3-05",
        expected=entry["CachedTime"],
        observed=times.get(entry["SecurityID"], "no entry"),
        case="CachedTime of the first entry after another message with the same certificate",
        evidence=[*evidence, *again.frames],
    )
    foreign = secured.message(ERIN, security={"SenderCert": MALLORY.certificate})
    refused = secured.send_and_read_dispositions({"": sign_message(foreign, key=MALLORY.key)})[""]
    transactional = secured.message(CAROL, queue="transactional")
    third = secured.send_and_read_dispositions({"": sign_message(transactional, key=CAROL.key)}, "transactional")[""]
    judge(
        "MQQB-3.1.1.3-03",
        "MQQB-3.1.5.8.3-34",
        expected=["alice", "bob", "carol"],
        observed=sorted(caches.users()),
        case="users in the cache after a refused and a transactional message",
        evidence=[*refused.frames, *third.frames],
    )
    signed = sign_message(secured.message(DAVE, body=CLEAR_BODY, PrivacyLevel=ENHANCED_PRIVACY_LEVEL), key=DAVE.key)
    encrypted = encrypt_message(sut, signed, ENHANCED_PRIVACY_LEVEL, protection.RC4, SYMMETRIC_KEYS[128])
    fourth = secured.send_and_read_dispositions({"": encrypted})[""]
    later = caches.entries(caches.CERTIFICATE_CACHE)[2:]
    evidence = [*third.frames, *fourth.frames]
    certificates = [one["UserCert"].get("Certificate") for one in later]
    expected = [user.certificate.hex() for user in (CAROL, DAVE)]
    judge("MQQB-3.1.5.8.3-30", expected=expected, observed=certificates, case="later UserCerts", evidence=evidence)
    identifiers = [one["SecurityID"] for one in later]
    expected = [user.security_id.hex() for user in (CAROL, DAVE)]
    for rule in ("MQQB-3.1.5.8.3-31", "MQQB-3.1.5.8.3-34"):
        judge(rule, expected=expected, observed=identifiers, case="later SecurityIDs", evidence=evidence)


def expect_later_cached_time(entry, now_s):
    """Return the expectation that a CachedTime is later than that of the given entry, which was added
    DELAY_BETWEEN_CACHED_ENTRIES_MS earlier.
    """
    soonest = min(entry["CachedTime"] + DELAY_BETWEEN_CACHED_ENTRIES_MS // 2_000, now_s)
    return between(soonest, now_s + CLOCK_TOLERANCE_S)


def judge_second_cache_entry(judge, entries, element_by_rule, evidence):
    """Judge the elements of the newer of two entries in a cache."""
    entry = entries[1] if len(entries) > 1 else {}
    for rule, (element, expected) in element_by_rule.items():
        observed = entry
        for name in element.split("."):
            observed = observed.get(name, {})
        judge(
            rule,
            expected=expected,
            observed=observed if entry else "no entry",
            case=f"{element} of the second entry",
            evidence=evidence,
        )


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-35", "MQQB-3.1.1.3-04", "MQQB-3.1.1.3-02")
def test_full_certificate_cache_loses_its_oldest_half(peer, sut, judge):
    """UserCertCacheSize is 4: a fifth certificate removes the two oldest entries, although the first was used."""
    secured, caches = SecuredMessageSender(peer, sut, user_cert_cache_size=4), SecurityCaches(sut)
    evidence = []
    for user in (ALICE, BOB, CAROL, DAVE):
        disposition = secured.send_and_read_dispositions({"": sign_message(secured.message(user), key=user.key)})[""]
        if disposition.found is None:
            raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)
        evidence += disposition.frames
        peer.pass_time(DELAY_BETWEEN_CACHED_ENTRIES_MS)
    full = caches.users()
    secured.send_and_read_dispositions({"": sign_message(secured.message(ALICE))})
    evidence += secured.send_and_read_dispositions({"": sign_message(secured.message(ERIN), key=ERIN.key)})[""].frames
    judge.all(
        expected=facts(
            entries_of_the_full_cache=["alice", "bob", "carol", "dave"],
            entries_after_another_one_was_added=["carol", "dave", "erin"],
        ),
        observed={"entries_of_the_full_cache": full, "entries_after_another_one_was_added": caches.users()},
        evidence=evidence[-6:],
    )


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@NEEDED_SECURITY_FACILITIES
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
def test_symmetric_key_of_a_message_is_cached(peer, sut, judge):
    """The peer sends an encrypted message. The SUT adds one entry to ReceiveSymmetricKeyCache, and adds no entry for a
    second message with the same key.

    An earlier message without a key does not start the cleanup timer of this cache.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    secured.send_and_read_dispositions({"": sign_message(secured.message(body=CLEAR_BODY))})
    peer.pass_time(3 * sut.response_timeout_ms)
    initial = len(caches.entries(caches.RECEIVED_KEY_CACHE))

    def build_encrypted_message(key=SYMMETRIC_KEYS[128]):
        return encrypt_message(sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC4, key)

    disposition = secured.send_and_read_dispositions({"": build_encrypted_message()})[""]
    entries, now_s = caches.entries(caches.RECEIVED_KEY_CACHE), peer.environment.now().utc_s
    evidence = disposition.frames
    judge(
        "MQQB-3.1.5.8.3-67",
        expected=facts(number_of_cache_entries_before_the_message=0, number_of_cache_entries_after_the_message=1),
        observed={
            "number_of_cache_entries_before_the_message": initial,
            "number_of_cache_entries_after_the_message": len(entries),
        },
        evidence=evidence,
    )
    entry = entries[0] if entries else dict.fromkeys(("RemoteQMGuid", "EncryptedSymmetricKey"), "") | {"CachedTime": 0}
    for rule, element, expected in (
        ("MQQB-3.1.5.8.3-59", "RemoteQMGuid", str(peer.identifier)),
        ("MQQB-3.1.5.8.3-60", "CryptoServiceProvider", ENHANCED_PROVIDER_NAME),
        ("MQQB-3.1.5.8.3-61", "CryptoAlgorithm", protection.RC4),
        ("MQQB-3.1.5.8.3-62", "EncryptedSymmetricKey", bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex()),
    ):
        judge(rule, expected=expected, observed=entry.get(element), case=element, evidence=evidence)
    judge(
        "MQQB-3.1.5.8.3-66",
        expected=expect_current_time(now_s),
        observed=entry["CachedTime"],
        case="CachedTime",
        evidence=evidence,
    )
    repeated = secured.send_and_read_dispositions({"": build_encrypted_message()})[""]
    known = len(caches.entries(caches.RECEIVED_KEY_CACHE))
    judge(
        "MQQB-3.1.5.8.3-55",
        expected=1,
        observed=known,
        case="number of cache entries after a message with the same key",
        evidence=[*evidence, *repeated.frames],
    )
    lifetime_ms = inspect_queue_manager(sut)["SymmetricKeyShortLifetime"]
    due, slack = sut.duration_ms(lifetime_ms), sut.slack_ms(lifetime_ms)
    first_remaining_ms = caches.get_remaining_ms(caches.RECEIVED_KEY_CACHE)
    peer.pass_time(DELAY_BETWEEN_CACHED_ENTRIES_MS)
    another = secured.send_and_read_dispositions({"": build_encrypted_message(SYMMETRIC_KEYS[128][::-1])})[""]
    now_s = peer.environment.now().utc_s
    if known == 1:  # a receiver that does not search its cache (-55) has another second entry
        judge_second_cache_entry(
            judge,
            caches.entries(caches.RECEIVED_KEY_CACHE),
            {
                "MQQB-3.1.5.8.3-62": (
                    "EncryptedSymmetricKey",
                    bytes(another.sent["SecurityHeader"].EncryptionKey).hex(),
                ),
                "MQQB-3.1.5.8.3-66": ("CachedTime", expect_later_cached_time(entry, now_s)),
            },
            another.frames,
        )
    second_remaining_ms = caches.get_remaining_ms(caches.RECEIVED_KEY_CACHE)
    counts = [initial, len(entries), len(caches.entries(caches.RECEIVED_KEY_CACHE)) - known]
    judge(
        "MQQB-3.1.5.8.3-57",
        "MQQB-3.1.5.8.3-58",
        "MQQB-3.1.1.3-06",
        "MQQB-3.1.1.3-07",
        expected=[0, 1, 1],
        observed=counts,
        case="number of cache entries before and after the message, and of new entries for a different key",
        evidence=[*evidence, *another.frames],
    )
    packet = encrypt_message(
        sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC2, SYMMETRIC_KEYS[128]
    )
    third = secured.send_and_read_dispositions({"": packet})[""]
    judge(
        "MQQB-3.1.1.3-06",
        "MQQB-3.1.1.3-07",
        expected=2,
        observed=len(caches.entries(caches.RECEIVED_KEY_CACHE)) - known,
        case="number of new cache entries for a different key and for a different algorithm",
        evidence=[*another.frames, *third.frames],
    )
    later = secured.send_and_read_dispositions({"": build_encrypted_message()})[""]
    if known == 1:  # a receiver that does not search its cache (-55) adds another entry
        times = [one["CachedTime"] for one in caches.entries(caches.RECEIVED_KEY_CACHE)]
        judge(
            "MQQB-3.1.5.8.3-66",
            expected=entry["CachedTime"],
            observed=times[0] if times else "no entry",
            case="CachedTime of the first entry after a later message with the same key",
            evidence=[*evidence, *later.frames],
        )
    judge_cached_keys_of_later_messages(judge, secured, caches)
    observed = (
        first_remaining_ms
        if second_remaining_ms is None
        or first_remaining_ms is None
        or second_remaining_ms <= first_remaining_ms - DELAY_BETWEEN_CACHED_ENTRIES_MS // 2
        else "restarted"
    )
    soonest = due - slack - 2 * sut.response_timeout_ms
    for rule, latest in (("MQQB-3.1.5.8.3-69", LONGEST_TIMER_IN_LIFETIMES * due), ("MQQB-3.1.1.3-14", due)):
        judge(
            rule,
            expected=between(soonest, latest),
            observed=observed,
            case="remaining ms of the cleanup timer",
            evidence=evidence,
        )


GUID_OF_SECOND_SOURCE = UUID("6d71636f-6e66-4f72-8d00-0000000000e3")
"""The identifier of a queue manager whose message the peer forwards."""


def judge_cached_keys_of_later_messages(judge, secured, caches):
    """Send an encrypted message from another source, which the peer forwards, and a transactional message from the
    peer. Judge the elements of the cache entries of their keys.
    """
    peer, sut = secured.peer, secured.sut
    messages = {
        "plain": (
            secured.message(body=CLEAR_BODY, header={"SourceQueueManager": GUID_OF_SECOND_SOURCE}),
            GUID_OF_SECOND_SOURCE,
        ),
        "transactional": (secured.message(queue="transactional", body=CLEAR_BODY), peer.identifier),
    }
    for at, (queue, (message, source)) in enumerate(messages.items()):
        key = SYMMETRIC_KEYS[128][at + 1 :] + SYMMETRIC_KEYS[128][: at + 1]
        packet = encrypt_message(sut, message, ENHANCED_PRIVACY_LEVEL, protection.RC4, key)
        before = caches.entries(caches.RECEIVED_KEY_CACHE)
        disposition = secured.send_and_read_dispositions({"": packet}, queue)[""]
        blob = bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex()
        new = [entry for entry in caches.entries(caches.RECEIVED_KEY_CACHE) if entry not in before]
        if not new:  # a receiver need not cache every key (MQQB-3.1.5.8.3-67 is a SHOULD)
            continue
        for rule, element, expected in (
            ("MQQB-3.1.5.8.3-60", "CryptoServiceProvider", ENHANCED_PROVIDER_NAME),
            ("MQQB-3.1.5.8.3-61", "CryptoAlgorithm", protection.RC4),
            ("MQQB-3.1.5.8.3-62", "EncryptedSymmetricKey", blob),
        ):
            judge(
                rule,
                expected=[expected],
                observed=[entry.get(element) for entry in new],
                case=f"{element} of the key of a message to the {queue} queue",
                evidence=disposition.frames,
            )
        judge(
            "MQQB-3.1.5.8.3-59",
            expected=[str(source)],
            observed=[
                entry["RemoteQMGuid"]
                for entry in caches.entries(caches.RECEIVED_KEY_CACHE)
                if entry["EncryptedSymmetricKey"] == blob
            ],
            case=f"RemoteQMGuid of the key of a message to the {queue} queue",
            evidence=disposition.frames,
        )


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-60", "MQQB-3.1.5.8.3-61", "MQQB-3.1.5.8.3-62", "MQQB-3.1.5.8.3-67")
def test_symmetric_key_of_each_provider_is_cached(peer, sut, judge):
    """The peer sends messages that each have a different privacy level and algorithm. The SUT adds one entry to the
    cache for each message. Windows XP has two caches (note <60>).
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    frames, blobs = [], []
    for level, algorithm, bits in PRIVACY_LEVEL_ALGORITHM_AND_KEY_BITS:
        packet = encrypt_message(sut, secured.message(body=CLEAR_BODY), level, algorithm, SYMMETRIC_KEYS[bits])
        disposition = secured.send_and_read_dispositions({"": packet})[""]
        frames += disposition.frames
        blobs.append(bytes(disposition.sent["SecurityHeader"].EncryptionKey).hex())
    expected = [
        (protection.PROVIDER_BY_PRIVACY_LEVEL[level], algorithm, blob)
        for (level, algorithm, _), blob in zip(PRIVACY_LEVEL_ALGORITHM_AND_KEY_BITS, blobs, strict=True)
    ]
    entries = [
        (entry.get("CryptoServiceProvider"), entry.get("CryptoAlgorithm"), entry.get("EncryptedSymmetricKey"))
        for entry in caches.entries(caches.RECEIVED_KEY_CACHE)
    ]
    judge(
        "MQQB-3.1.5.8.3-67",
        expected=len(expected),
        observed=len(entries),
        case="number of entries in the cache",
        evidence=frames,
    )
    for at, (rule, element) in enumerate(
        (
            ("MQQB-3.1.5.8.3-60", "CryptoServiceProvider"),
            ("MQQB-3.1.5.8.3-61", "CryptoAlgorithm"),
            ("MQQB-3.1.5.8.3-62", "EncryptedSymmetricKey"),
        )
    ):
        observed = [entry[at] for entry in entries]
        judge(rule, expected=[way[at] for way in expected], observed=observed, case=element, evidence=frames)


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-57", "MQQB-3.1.5.8.3-67", "MQQB-3.1.5.8.3-68", "MQQB-3.1.1.3-09")
def test_full_symmetric_key_cache_loses_its_oldest_half(peer, sut, judge):
    """ReceiveSymmetricKeyCacheSize is 4: a fifth key removes the two oldest entries, although the oldest was used.
    Two of the keys are from a second queue manager, whose messages the peer forwards. A further message with the first
    of the removed keys adds an entry again.
    """
    secured, caches = SecuredMessageSender(peer, sut, receive_symmetric_key_cache_size=4), SecurityCaches(sut)
    receiver = protection.read_listed_keys(sut.receiving_keys)[ENHANCED_PROVIDER_NAME]
    keys = [bytes([number]) * 16 for number in range(1, 6)]
    names = {protection.encrypt_session_key(protection.RC4, key, receiver).hex(): str(key[0]) for key in keys}

    def list_cached_key_names():
        return [names.get(entry["EncryptedSymmetricKey"], "?") for entry in caches.entries(caches.RECEIVED_KEY_CACHE)]

    evidence = []
    for key, source in zip(keys[:4], (peer.identifier, GUID_OF_SECOND_SOURCE) * 2, strict=True):
        message = secured.message(body=CLEAR_BODY, header={"SourceQueueManager": source})
        packet = encrypt_message(sut, message, ENHANCED_PRIVACY_LEVEL, protection.RC4, key)
        evidence += secured.send_and_read_dispositions({"": packet})[""].frames
        peer.pass_time(DELAY_BETWEEN_CACHED_ENTRIES_MS)
    full = list_cached_key_names()
    judge(
        "MQQB-3.1.5.8.3-67",
        expected=holds("the SUT caches keys", otherwise="keys are not cached"),
        observed=bool(full),
        evidence=evidence[-1],
    )
    secured.send_and_read_dispositions(
        {"": encrypt_message(sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC4, keys[0])}
    )
    evidence += secured.send_and_read_dispositions(
        {"": encrypt_message(sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC4, keys[4])}
    )[""].frames
    judge(
        "MQQB-3.1.5.8.3-68",
        "MQQB-3.1.1.3-09",
        expected=facts(entries_of_the_full_cache=[*"1234"], entries_after_another_one_was_added=[*"345"]),
        observed={"entries_of_the_full_cache": full, "entries_after_another_one_was_added": list_cached_key_names()},
        evidence=evidence[-6:],
    )
    again = encrypt_message(sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, protection.RC4, keys[0])
    frames = secured.send_and_read_dispositions({"": again})[""].frames
    judge(
        "MQQB-3.1.5.8.3-57",
        expected=[*"3451"],
        observed=list_cached_key_names(),
        case="keys in the cache after another message with a removed key",
        evidence=[*evidence[-3:], *frames],
    )
