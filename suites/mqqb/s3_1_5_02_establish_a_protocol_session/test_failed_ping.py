"""MS-MQQB 3.1.5.2.2 Ping Mechanism: the ConnectionHistory of a ping that failed."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import entry_text, history
from suites.mqqb.steps.pinging import Caller


@needs("ping_initiator", "management")
@covers("MQQB-3.1.5.2.2-06", "MQQB-3.1.5.2.2-07")
def test_failed_ping_is_in_the_connection_history(peer, sut, judge):
    """A refusing response adds one entry to ConnectionHistory: PingFailure, now, an error, the peer's address."""
    caller = Caller(peer, sut)
    asked = caller.asked()
    before = len(history(sut, caller.name))
    answer = caller.answer(asked, RF=1)
    peer.settle()
    entries = history(sut, caller.name)[before:]
    evidence = [asked, answer]
    judge("MQQB-3.1.5.2.2-06", expected=1, observed=len(entries), case="entries", evidence=evidence)
    observed = entry_text(entries[-1] if entries else None, peer.environment.now().utc_s)
    expected = f"PingFailure, now, an error, {peer.address}"
    judge("MQQB-3.1.5.2.2-07", expected=expected, observed=observed, evidence=evidence)
