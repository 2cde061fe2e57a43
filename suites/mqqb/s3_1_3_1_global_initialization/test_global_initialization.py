"""MS-MQQB 3.1.3.1 Global Initialization, and what of 3.1.1.3 a restart does not change: all of it after a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import recoverable_message
from suites.mqqb.steps.opening import ACK_MS, opened, pass_time
from suites.mqqb.steps.pinging import element

RULE = "MQQB-3.1.3.1-"
STATE = "MQQB-3.1.1.3-"
TIMEOUTS = ("ResendTimeoutsShort", "ResendTimeoutsMedium", "ResendTimeoutsLong", "ResendTimeoutsFinal")
EMPTY = {
    "08": "UserCertCache",
    "11": "ReceiveSymmetricKeyCache",
    "12": "ReceiveBaseSymmetricKeyCache",
    "14": "SendSymmetricKeyCache",
    "15": "SendBaseSymmetricKeyCache",
}
"""Caches, by rule."""
VALUES = {
    "09": ("UserCertCacheSize", 53),
    "10": ("UserCertLifetime", 1_200_000),
    "13": ("ReceiveSymmetricKeyCacheSize", 127),
    "16": ("SendSymmetricKeyCacheSize", 53),
    "17": ("SymmetricKeyShortLifetime", 600_000),
    "18": ("SymmetricKeyLongLifetime", 43_200_000),
    "19": ("PreferredAdvancedAlgorithm", 0x6610),
    "20": ("PreferredEnhancedAlgorithm", 0x6801),
    "21": ("PreferredBaseAlgorithm", 0x6801),
    "22": ("SendEnhancedRC2Using40BitKeys", False),
    "23": ("RejectEnhancedRC2Using40BitKeys", False),
}
HISTORY_TIMER = "MessageIDHistoryCleanup"
HISTORY_MS = 20_000
"""Duration of the MessageIDHistory Cleanup Timer here, so that the history becomes empty."""


def _rules(*numbers):
    return [f"{RULE}{number}" for number in numbers]


def _manager(sut):
    return sut.inspect()["QueueManager"]


@needs("inspect", "restart")
@covers(
    *_rules("02", "03", "04", "05", *EMPTY, *VALUES),
    *(f"{STATE}{number}" for number in ("28", "29", "30", "31")),
    "MQQB-3.1.4.1-01",
)
def test_what_the_queue_manager_begins_with(peer, sut, judge):
    """After a restart the resend times are as they were, the table is made of them, the caches are empty and sized."""
    before = _manager(sut)
    sut.restart()
    after = _manager(sut)
    for rule, name in zip(("28", "29", "30", "31"), TIMEOUTS, strict=True):
        judge(f"{STATE}{rule}", expected=f"{name} {element(before, name)}", observed=f"{name} {element(after, name)}")
    table, first = element(after, "ResendTimerTable"), 0
    for rule, name, count in zip(("02", "03", "04", "05"), TIMEOUTS, (3, 3, 3, 1), strict=True):
        expected = [element(after, name)] * count
        judge(f"{RULE}{rule}", expected=str(expected), observed=str(table[first : first + count]))
        first += count
    begun = f"{len(table)} resend times, {sum(len(element(after, name)) for name in EMPTY.values())} cached"
    judge("MQQB-3.1.4.1-01", expected="10 resend times, 0 cached", observed=begun)
    for rule, name in EMPTY.items():
        judge(f"{RULE}{rule}", expected=f"0 in {name}", observed=f"{len(element(after, name))} in {name}")
    for rule, (name, expected) in VALUES.items():
        judge(f"{RULE}{rule}", expected=f"{name} {expected}", observed=f"{name} {element(after, name)}")


@needs("inspect", "restart", "set_timers")
@covers(*_rules("06", "07"), f"{STATE}21")
def test_the_history_is_cleaned_up_after_a_restart_only_if_there_is_one(peer, sut, judge):
    """With a message in MessageIDHistoryTable the cleanup timer runs after a restart; with none it does not."""
    sut.set_timers(message_id_history_cleanup_ms=HISTORY_MS)
    session = opened(peer)
    sent = session.send(recoverable_message(peer))
    session.expect("SessionAck", within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS))
    sut.restart()
    shown = _manager(sut)
    if not element(shown, "MessageIDHistoryTable"):
        raise ConformanceFailure("the SUT has forgotten the message that it received before the restart (note <25>)")
    judge(f"{RULE}07", expected="running", observed=_timer(shown), evidence=sent)
    for _ in range(4):
        pass_time(peer, sut.duration_ms(HISTORY_MS) + sut.slack_ms(HISTORY_MS))
        if not element(_manager(sut), "MessageIDHistoryTable"):
            break
    else:
        raise ConformanceFailure("the SUT's MessageIDHistoryTable did not become empty (3.1.6.7)")
    sut.restart()
    shown = _manager(sut)
    entries = len(element(shown, "MessageIDHistoryTable"))
    judge(f"{STATE}21", expected="0 entries", observed=f"{entries} entries", evidence=sent)
    if entries:
        raise ConformanceFailure("the SUT's MessageIDHistoryTable is not empty after the restart")
    judge(f"{RULE}06", expected="stopped", observed=_timer(shown), evidence=sent)


def _timer(shown):
    return "stopped" if element(element(shown, "timers"), HISTORY_TIMER) is None else "running"
