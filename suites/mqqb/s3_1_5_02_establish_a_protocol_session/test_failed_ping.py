"""MS-MQQB 3.1.5.2.2 Ping Mechanism: the ConnectionHistory of a ping that failed."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import expect_recent_entry, get_last_entry, list_connection_history
from suites.mqqb.steps.pinging import PingingSut


@needs("ping_initiator", "management")
@covers("MQQB-3.1.5.2.2-06", "MQQB-3.1.5.2.2-07")
def test_refused_ping_adds_ping_failure_to_connection_history(peer, sut, judge):
    """A Ping Response with RF 1 adds one entry to ConnectionHistory, with PingFailure, the time, an error and the
    peer's address.
    """
    pinging_sut = PingingSut(peer, sut)
    asked = pinging_sut.await_ping()
    known = len(list_connection_history(sut, pinging_sut.name))
    answer = pinging_sut.answer_ping(asked, RF=1)
    peer.settle()
    entries = list_connection_history(sut, pinging_sut.name)[known:]
    evidence = [asked, answer]
    judge(
        "MQQB-3.1.5.2.2-06",
        expected=1,
        observed=len(entries),
        case="number of new entries in ConnectionHistory",
        evidence=evidence,
    )
    expected = expect_recent_entry(peer, "PingFailure", failed=True)
    judge("MQQB-3.1.5.2.2-07", expected=expected, observed=get_last_entry(entries), evidence=evidence)
