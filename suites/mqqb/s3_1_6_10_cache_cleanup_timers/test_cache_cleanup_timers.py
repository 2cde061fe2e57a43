"""MS-MQQB 3.1.6.10, MS-MQQB 3.1.6.11, MS-MQQB 3.1.6.13: the cleanup timers of the security caches."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB
from suites.mqqb.steps.caching import (
    ADVANCED,
    ALL,
    CERTIFICATES,
    ENHANCED,
    RECEIVE,
    SEND,
    Filled,
    cached,
    provider,
    remaining_ms,
    users,
)
from suites.mqqb.steps.opening import Between, pass_time
from suites.mqqb.steps.secured import Secured

SECTIONS = {RECEIVE: "MQQB-3.1.6.10-", SEND: "MQQB-3.1.6.11-", CERTIFICATES: "MQQB-3.1.6.13-"}
MINUTE_MS = 60_000
LIFETIME_REAL_MS = 10_000
"""How long entries live by the clock where that is the real one; CachedTime tells seconds only."""
SCALE = 20
"""The fastest that the timers of this check may run."""


@needs("security", "receive", "configure", "inspect", "private_names", "send", "set_timers")
@covers(*(f"{section}{number}" for section in SECTIONS.values() for number in ("01", "02", "03", "04")))
def test_old_entries_leave_the_caches(peer, sut, judge):
    """Exactly as old as the lifetime is not too old; a minute later it is, and the younger entry stays."""
    sut.slow_down(SCALE)
    scale = sut.scale
    lifetime_ms = max(100_000, LIFETIME_REAL_MS * scale)
    second_ms = lifetime_ms * 4 // 5
    secured = Secured(peer, sut, user_cert_lifetime_ms=lifetime_ms, symmetric_key_short_lifetime_ms=lifetime_ms)
    filled = Filled(secured)
    evidence = filled.fill(ALICE, ADVANCED, early=True)  # a timer that is late must not see it a second older
    began_ms = peer.recorder.elapsed_ms()

    def wait_until(specified_ms):
        pass_time(peer, max(0, began_ms + specified_ms // scale - peer.recorder.elapsed_ms()))

    wait_until(second_ms)
    evidence += filled.fill(BOB, ENHANCED)
    margin = sut.slack_ms(0)
    wait_until(lifetime_ms)
    pass_time(peer, margin)
    at_first = {name: (len(cached(sut, name)), remaining_ms(sut, name)) for name in ALL}
    wait_until(lifetime_ms + MINUTE_MS)
    pass_time(peer, 2 * margin)
    at_second = {name: (_levels(sut, name), remaining_ms(sut, name)) for name in ALL}
    due = {"first": MINUTE_MS // scale, "second": second_ms // scale}
    for name, section in SECTIONS.items():
        (count, first_ms), (left, second_ms) = at_first[name], at_second[name]
        kept = "bob" if name == CERTIFICATES else "enhanced"
        for number in ("01", "02"):
            judge(
                f"{section}{number}",
                expected=f"2 entries; then {kept}",
                observed=f"{count} entries; then {left}",
                evidence=evidence,
            )
        for number, observed, whole in (
            ("03", first_ms, due["first"]),
            ("04", first_ms, due["first"]),
            ("04", second_ms, due["second"]),
        ):
            allowed = Between(whole - 4 * margin - 1_000, whole + 1_000)
            judge(f"{section}{number}", expected=allowed, observed=observed, evidence=evidence)


def _levels(sut, name):
    if name == CERTIFICATES:
        return users(sut)
    levels = {provider(ADVANCED): "advanced", provider(ENHANCED): "enhanced"}
    return ", ".join(levels[entry["CryptoServiceProvider"]] for entry in cached(sut, name)) or "nothing"
