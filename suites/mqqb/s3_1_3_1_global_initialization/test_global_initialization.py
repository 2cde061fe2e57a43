"""MS-MQQB 3.1.3.1 Global Initialization, and what of 3.1.1.3 a restart does not change: all of it after a restart."""

from __future__ import annotations

import itertools

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.peer.timeouts import ACK_MS
from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_element
from suites.mqqb.steps.sequences import RESEND_MS, Outgoing

KEPT = {
    "MQQB-3.1.1.3-28": "ResendTimeoutsShort",
    "MQQB-3.1.1.3-29": "ResendTimeoutsMedium",
    "MQQB-3.1.1.3-30": "ResendTimeoutsLong",
    "MQQB-3.1.1.3-31": "ResendTimeoutsFinal",
}
"""Elements that a restart does not change, by rule."""
TABLE = (
    ("MQQB-3.1.3.1-02", "ResendTimeoutsShort", slice(0, 3)),
    ("MQQB-3.1.3.1-03", "ResendTimeoutsMedium", slice(3, 6)),
    ("MQQB-3.1.3.1-04", "ResendTimeoutsLong", slice(6, 9)),
    ("MQQB-3.1.3.1-05", "ResendTimeoutsFinal", slice(9, 10)),
)
"""Entries of the ResendTimerTable: rule, the element that they have the value of, where they are."""
EMPTY = {
    "MQQB-3.1.3.1-08": "UserCertCache",
    "MQQB-3.1.3.1-11": "ReceiveSymmetricKeyCache",
    "MQQB-3.1.3.1-12": "ReceiveBaseSymmetricKeyCache",
    "MQQB-3.1.3.1-14": "SendSymmetricKeyCache",
    "MQQB-3.1.3.1-15": "SendBaseSymmetricKeyCache",
}
"""Caches, by rule."""
VALUES = {
    "MQQB-3.1.3.1-09": ("UserCertCacheSize", 53),
    "MQQB-3.1.3.1-10": ("UserCertLifetime", 1_200_000),
    "MQQB-3.1.3.1-13": ("ReceiveSymmetricKeyCacheSize", 127),
    "MQQB-3.1.3.1-16": ("SendSymmetricKeyCacheSize", 53),
    "MQQB-3.1.3.1-17": ("SymmetricKeyShortLifetime", 600_000),
    "MQQB-3.1.3.1-18": ("SymmetricKeyLongLifetime", 43_200_000),
    "MQQB-3.1.3.1-19": ("PreferredAdvancedAlgorithm", 0x6610),
    "MQQB-3.1.3.1-20": ("PreferredEnhancedAlgorithm", 0x6801),
    "MQQB-3.1.3.1-21": ("PreferredBaseAlgorithm", 0x6801),
    "MQQB-3.1.3.1-22": ("SendEnhancedRC2Using40BitKeys", False),
    "MQQB-3.1.3.1-23": ("RejectEnhancedRC2Using40BitKeys", False),
}
HISTORY_TIMER = "MessageIDHistoryCleanup"
HISTORY_MS = 20_000
"""Duration of the MessageIDHistory Cleanup Timer here, so that the history becomes empty."""
DAY_S = 86_400


def _manager(sut):
    return sut.inspect()["QueueManager"]


@needs("inspect", "restart")
@covers(*KEPT, *(rule for rule, *_ in TABLE), *EMPTY, *VALUES, "MQQB-3.1.4.1-01")
def test_what_the_queue_manager_begins_with(peer, sut, judge):
    """After a restart the resend times are as they were, the table is made of them, the caches are empty and sized."""
    before = _manager(sut)
    sut.restart()
    after = _manager(sut)
    for rule, name in KEPT.items():
        judge(rule, expected=fields({name: read_element(before, name)}), observed={name: read_element(after, name)})
    table = read_element(after, "ResendTimerTable")
    for rule, name, entries in TABLE:
        timeouts = [read_element(after, name)] * (entries.stop - entries.start)
        judge(rule, expected=timeouts, observed=table[entries])
    begun = {"resend times": len(table), "cached": sum(len(read_element(after, name)) for name in EMPTY.values())}
    judge("MQQB-3.1.4.1-01", expected=fields({"resend times": 10, "cached": 0}), observed=begun)
    for rule, name in EMPTY.items():
        judge(rule, expected=0, observed=len(read_element(after, name)), case=f"entries of {name}")
    for rule, (name, expected) in VALUES.items():
        judge(rule, expected=fields({name: expected}), observed={name: read_element(after, name)})


@needs("inspect", "restart", "set_timers")
@covers("MQQB-3.1.3.1-06", "MQQB-3.1.3.1-07", "MQQB-3.1.1.3-21")
def test_the_history_is_cleaned_up_after_a_restart_only_if_there_is_one(peer, sut, judge):
    """With a message in MessageIDHistoryTable the cleanup timer runs after a restart; with none it does not."""
    sut.set_timers(message_id_history_cleanup_ms=HISTORY_MS)
    session = peer.open_raw()
    sent = session.send(peer.recoverable_message())
    session.expect("SessionAck", within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS))
    sut.restart()
    shown = _manager(sut)
    if not read_element(shown, "MessageIDHistoryTable"):
        raise ConformanceFailure("the SUT has forgotten the message that it received before the restart (note <25>)")
    judge("MQQB-3.1.3.1-07", expected=RUNS, observed=_runs(shown), evidence=sent)
    judge.finished("MQQB-3.1.3.1-07")
    if not _becomes_empty(peer, sut) and sut.has("environment"):
        sut.change_environment(clock=DAY_S)  # what came while the clock was fast is old then
        _becomes_empty(peer, sut)
        sut.change_environment(clock=0)
    if read_element(_manager(sut), "MessageIDHistoryTable"):
        judge.not_exercised(
            "MQQB-3.1.1.3-21",
            "MQQB-3.1.3.1-06",
            reason="the SUT's MessageIDHistoryTable did not become empty: others may send, too",
        )
        return
    sut.restart()
    shown = _manager(sut)
    entries = len(read_element(shown, "MessageIDHistoryTable"))
    judge("MQQB-3.1.1.3-21", expected=0, observed=entries, case="entries", evidence=sent)
    judge.finished("MQQB-3.1.1.3-21")
    if entries:
        raise ConformanceFailure("the SUT's MessageIDHistoryTable is not empty after the restart")
    judge("MQQB-3.1.3.1-06", expected=STANDS, observed=not _runs(shown), evidence=sent)


def _becomes_empty(peer, sut):
    for _ in range(4):
        peer.pass_time(sut.duration_ms(HISTORY_MS) + sut.slack_ms(HISTORY_MS))
        if not read_element(_manager(sut), "MessageIDHistoryTable"):
            return True
    return False


RUNS = holds("running", otherwise="stopped")
STANDS = holds("stopped", otherwise="running")


def _runs(shown):
    return read_element(read_element(shown, "timers"), HISTORY_TIMER) is not None


SHORT = 3
"""How many entries of the ResendTimerTable are the same at its beginning."""


@needs("send")
@covers("MQQB-3.1.3.1-02", "MQQB-3.1.3.2-19", "MQQB-3.1.3.2-20")
def test_the_first_three_times_of_sending_again_are_the_same(peer, sut, judge):
    """A message that has no OrderAck comes again three times, each after the first resend time."""
    outgoing = Outgoing(peer, sut, "mqc-resend-short")
    outgoing.send()
    for _ in range(SHORT):
        outgoing.on_session()
        if outgoing.comes_again(1) != "comes again":
            break
    copies = outgoing.copies(1)[: SHORT + 1]
    waits = [peer.took(earlier, later) for earlier, later in itertools.pairwise(copies)]
    shown = [wait.when(RESEND_MS, "the first resend time").removeprefix("after ") for wait in waits]
    judge.all(expected=["the first resend time"] * SHORT, observed=shown, evidence=copies)
    outgoing.on_session()
    outgoing.settle()
