"""The output of ``mqconform verify`` about replayed checks."""

from __future__ import annotations

from harness.results.replayed import ReplayResult
from harness.results.verification import describe_replay


def test_checks_that_cannot_be_replayed_are_counted_by_their_reason():
    """Checks that cannot be replayed are counted by their reason, although each replay ends at a different frame."""
    why = {
        "a": "frame 20: the harness sends different bytes: not replayable",
        "b": "frame 3: the harness sends different bytes: not replayable",
        "c": "after frame 7: keys: not replayable",
    }
    assert list(describe_replay(ReplayResult(frozenset("xyz"), {}, why))) == [
        "replayed: 3 checks reproduced the verdicts of the run",
        "  not replayed: 2: the harness sends different bytes: not replayable",
        "  not replayed: 1: keys: not replayable",
    ]
