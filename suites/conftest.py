"""What every check has: a SUT, a peer, a judge, and the passive predicates on all that the SUT sends."""

from __future__ import annotations

import pytest

from harness.judging.judge import Judge
from harness.peer.peer import Peer
from suites import predicates

__all__ = ["predicates"]


@pytest.fixture(autouse=True)
def _every_check(peer: Peer, judge: Judge) -> None:
    """Let no check run without them, whether it names them or not."""
