"""MS-MQQB 3.1.6.10, MS-MQQB 3.1.6.11, MS-MQQB 3.1.6.13: the cleanup timers of the security caches."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, holds, one_of
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB
from harness.wire.protection import PROVIDER_BY_PRIVACY_LEVEL
from suites.mqqb.steps.caching import (
    ADVANCED_PRIVACY_LEVEL,
    CIPHER_BY_PRIVACY_LEVEL,
    ENHANCED_PRIVACY_LEVEL,
    PRIVACY_LEVEL_NAMES,
    SecurityCaches,
    fill_security_caches,
)
from suites.mqqb.steps.secured import SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message, sign_message

MS_PER_MINUTE = 60_000
LEAST_REAL_LIFETIME_MS = 10_000
"""The least lifetime of entries in real time. The lifetime must be long because CachedTime counts whole seconds."""
GREATEST_TIME_SCALE = 20
"""The highest factor by which the timers may be accelerated in this check."""
REMAINING_CACHE_ENTRY_CASES = (
    ("MQQB-3.1.6.10-01", SecurityCaches.RECEIVED_KEY_CACHE, "enhanced"),
    ("MQQB-3.1.6.10-02", SecurityCaches.RECEIVED_KEY_CACHE, "enhanced"),
    ("MQQB-3.1.6.11-02", SecurityCaches.SENT_KEY_CACHE, "enhanced"),
    ("MQQB-3.1.6.13-01", SecurityCaches.CERTIFICATE_CACHE, "bob"),
    ("MQQB-3.1.6.13-02", SecurityCaches.CERTIFICATE_CACHE, "bob"),
    ("MQSO-6.4.3.1-D01", SecurityCaches.CERTIFICATE_CACHE, "bob"),
    ("MQSO-6.4.3.1-01", SecurityCaches.CERTIFICATE_CACHE, "bob"),
)
"""The rule, the cache, and the newer entry, which remains when the older entry has been deleted."""
RESTARTED_CLEANUP_TIMER_CASES = (
    ("MQQB-3.1.6.10-03", SecurityCaches.RECEIVED_KEY_CACHE, "first"),
    ("MQQB-3.1.6.10-03", SecurityCaches.RECEIVED_KEY_CACHE, "second"),
    ("MQQB-3.1.6.10-04", SecurityCaches.RECEIVED_KEY_CACHE, "first"),
    ("MQQB-3.1.6.10-04", SecurityCaches.RECEIVED_KEY_CACHE, "second"),
    ("MQQB-3.1.6.11-03", SecurityCaches.SENT_KEY_CACHE, "first"),
    ("MQQB-3.1.6.11-04", SecurityCaches.SENT_KEY_CACHE, "first"),
    ("MQQB-3.1.6.11-04", SecurityCaches.SENT_KEY_CACHE, "second"),
    ("MQQB-3.1.6.13-03", SecurityCaches.CERTIFICATE_CACHE, "first"),
    ("MQQB-3.1.6.13-03", SecurityCaches.CERTIFICATE_CACHE, "second"),
    ("MQSO-6.4.3.1-D02", SecurityCaches.CERTIFICATE_CACHE, "first"),
    ("MQSO-6.4.3.1-D02", SecurityCaches.CERTIFICATE_CACHE, "second"),
    ("MQQB-3.1.6.13-04", SecurityCaches.CERTIFICATE_CACHE, "first"),
    ("MQQB-3.1.6.13-04", SecurityCaches.CERTIFICATE_CACHE, "second"),
)
"""The rule, the cache, and the expiry after which the restarted timer is judged."""


@needs("security", "receive", "configure", "inspect", "private_names", "send", "set_timers")
@covers(*(rule for rule, *_ in (*REMAINING_CACHE_ENTRY_CASES, *RESTARTED_CLEANUP_TIMER_CASES)))
def test_cleanup_deletes_expired_cache_entries_and_restarts_timer(peer, sut, judge):
    """The SUT adds an entry to each security cache. Later, it receives messages with the certificate and the symmetric
    key of the first entries, and adds a second entry to each cache. The SUT still has the first entry when
    the lifetime of this entry ends, and deletes it a minute later. Then the SUT restarts the timer for the second
    entry, and deletes this entry at the next expiry.
    """
    sut.limit_time_scale(GREATEST_TIME_SCALE)
    scale = sut.scale
    lifetime_ms = max(100_000, LEAST_REAL_LIFETIME_MS * scale)
    second_ms = lifetime_ms * 4 // 5
    secured = SecuredMessageSender(
        peer, sut, user_cert_lifetime_ms=lifetime_ms, symmetric_key_short_lifetime_ms=lifetime_ms
    )
    evidence = fill_security_caches(
        secured, ALICE, ADVANCED_PRIVACY_LEVEL, early=True
    )  # a timer that is late must not see it a second older
    began_ms = peer.recorder.elapsed_ms()

    def wait_until_specified_time(specified_ms: int) -> None:
        peer.pass_time_until(began_ms, specified_ms // scale)

    wait_until_specified_time(second_ms)
    evidence += secured.send_and_read_dispositions({"": sign_message(secured.message(ALICE), key=ALICE.key)})[""].frames
    cipher, bits = CIPHER_BY_PRIVACY_LEVEL[ADVANCED_PRIVACY_LEVEL]
    clear = secured.message(ALICE, body=b"with the first key")
    with_first_key = encrypt_message(sut, clear, ADVANCED_PRIVACY_LEVEL, cipher, SYMMETRIC_KEYS[bits])
    evidence += secured.send_and_read_dispositions({"": with_first_key})[""].frames
    evidence += fill_security_caches(secured, BOB, ENHANCED_PRIVACY_LEVEL)
    margin = sut.slack_ms(0)
    wait_until_specified_time(lifetime_ms)
    peer.pass_time(margin)
    caches = SecurityCaches(sut)
    names = (SecurityCaches.RECEIVED_KEY_CACHE, SecurityCaches.SENT_KEY_CACHE, SecurityCaches.CERTIFICATE_CACHE)
    counts = {name: len(caches.entries(name)) for name in names}
    left_ms = {"first": {name: caches.get_remaining_ms(name) for name in names}}
    wait_until_specified_time(lifetime_ms + MS_PER_MINUTE)
    peer.pass_time(2 * margin)
    kept = {
        name: caches.users() if name == SecurityCaches.CERTIFICATE_CACHE else _list_privacy_level_names(caches, name)
        for name in names
    }
    left_ms["second"] = {name: caches.get_remaining_ms(name) for name in names}
    wait_until_specified_time(second_ms + lifetime_ms + 2 * MS_PER_MINUTE)
    peer.pass_time(2 * margin)
    last = {
        "MQSO-6.4.3.1-01": caches.users(),
        "MQSO-6.4.3.1-D01": caches.users(),
        "MQQB-3.1.6.10-02": _list_privacy_level_names(caches, SecurityCaches.RECEIVED_KEY_CACHE),
    }
    due_ms = {"first": MS_PER_MINUTE // scale, "second": second_ms // scale}
    judge(
        "MQSO-6.4.3.1-01",
        expected=2,
        observed=counts[SecurityCaches.CERTIFICATE_CACHE],
        case="number of entries of UserCertCache before the expiry",
        evidence=evidence,
    )
    for rule, name, expected in REMAINING_CACHE_ENTRY_CASES:
        judge(
            rule,
            expected=facts(number_of_cache_entries_before_the_expiry=2, cache_entries_after_the_expiry=[expected]),
            observed={
                "number_of_cache_entries_before_the_expiry": counts[name],
                "cache_entries_after_the_expiry": kept[name],
            },
            evidence=evidence,
        )
    for rule, left in last.items():
        judge(rule, expected=[], observed=left, case="entries after the expiry of the second entry", evidence=evidence)
    for rule, name, expiry in RESTARTED_CLEANUP_TIMER_CASES:
        due = [due_ms[expiry]]
        if rule == "MQQB-3.1.6.11-04" and expiry == "first":
            due.append(due_ms[expiry] + due_ms["second"])  # by the youngest entry; by which, 3.1.6.11-03 says
        ranges = [between(one - 4 * margin - 1_000, one + 1_000) for one in due]
        judge(
            rule,
            expected=one_of(*ranges),
            observed=left_ms[expiry][name],
            case=f"remaining ms of the cleanup timer of {name}",
            evidence=evidence,
        )


@needs("security", "receive", "configure", "inspect", "private_names", "send", "set_timers")
@covers("MQQB-3.1.6.10-01", "MQQB-3.1.6.10-02", "MQQB-3.1.6.11-02", "MQQB-3.1.6.13-01", "MQQB-3.1.6.13-02")
@covers("MQSO-6.4.3.1-D01")
def test_one_cleanup_deletes_all_expired_cache_entries(peer, sut, judge):
    """The SUT adds two entries to each security cache at about the same time. A minute after the end of their lifetime,
    the SUT has deleted both entries of each cache. A later entry starts the cleanup timer again, and the next cleanup
    deletes this entry.
    """
    sut.limit_time_scale(GREATEST_TIME_SCALE)
    scale, margin = sut.scale, sut.slack_ms(0)
    lifetime_ms = max(100_000, LEAST_REAL_LIFETIME_MS * scale)
    secured = SecuredMessageSender(
        peer, sut, user_cert_lifetime_ms=lifetime_ms, symmetric_key_short_lifetime_ms=lifetime_ms
    )
    began_ms = peer.recorder.elapsed_ms()
    evidence = fill_security_caches(secured, ALICE, ADVANCED_PRIVACY_LEVEL, early=True) + fill_security_caches(
        secured, BOB, ENHANCED_PRIVACY_LEVEL
    )
    filled_ms = peer.recorder.elapsed_ms()
    caches = SecurityCaches(sut)
    names = {
        "MQQB-3.1.6.10-02": SecurityCaches.RECEIVED_KEY_CACHE,
        "MQQB-3.1.6.11-02": SecurityCaches.SENT_KEY_CACHE,
        "MQQB-3.1.6.13-02": SecurityCaches.CERTIFICATE_CACHE,
    }
    counts = [len(caches.entries(name)) for name in names.values()]
    if counts != [2, 2, 2] or filled_ms - began_ms > MS_PER_MINUTE // scale // 2:
        raise ConformanceFailure(f"the caches got {counts} entries in {filled_ms - began_ms} ms")
    peer.pass_time_until(filled_ms, (lifetime_ms + MS_PER_MINUTE) // scale)
    peer.pass_time(2 * margin)
    names["MQSO-6.4.3.1-D01"] = SecurityCaches.CERTIFICATE_CACHE
    for rule, name in names.items():
        judge(rule, expected=0, observed=len(caches.entries(name)), case=f"entries of {name}", evidence=evidence)
    evidence = fill_security_caches(secured, ALICE, ADVANCED_PRIVACY_LEVEL)
    filled_ms = peer.recorder.elapsed_ms()
    lead_rules = {
        "MQQB-3.1.6.10-01": SecurityCaches.RECEIVED_KEY_CACHE,
        "MQQB-3.1.6.13-01": SecurityCaches.CERTIFICATE_CACHE,
    }
    for rule, name in lead_rules.items():
        judge(
            rule,
            expected=holds("the cleanup timer runs", otherwise="the cleanup timer does not run"),
            observed=bool(caches.get_remaining_ms(name)),
            case=f"{name} with a new entry",
            evidence=evidence,
        )
    counts = [len(caches.entries(name)) for name in names.values()]
    if 0 in counts:  # a release may keep its received keys (MS-MQQB note <61>)
        raise ConformanceFailure(f"the caches got {counts} entries after their cleanup")
    peer.pass_time_until(filled_ms, (lifetime_ms + MS_PER_MINUTE) // scale)
    peer.pass_time(2 * margin)
    for rule, name in (names | lead_rules).items():
        judge(
            rule,
            expected=0,
            observed=len(caches.entries(name)),
            case=f"entries of {name} after the second cleanup",
            evidence=evidence,
        )


def _list_privacy_level_names(caches: SecurityCaches, name: str) -> list[str]:
    """Return the names of the privacy levels of the keys in a cache, in the order of the cache."""
    levels = {PROVIDER_BY_PRIVACY_LEVEL[level]: text for level, text in PRIVACY_LEVEL_NAMES.items()}
    return [levels[entry["CryptoServiceProvider"]] for entry in caches.entries(name)]
