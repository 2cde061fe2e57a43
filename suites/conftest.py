"""Fixtures of every check: a SUT, a peer, a judge, and the passive predicates for every packet of the SUT."""

from __future__ import annotations

import pytest

from harness.judging.judge import Judge
from harness.judging.passive import load_predicates
from harness.peer.peer import Peer

pytest_plugins = ("harness.run.plugin",)

load_predicates()


@pytest.fixture(autouse=True)
def _use_fixtures_in_every_check(peer: Peer, judge: Judge) -> None:
    """Use these fixtures in every check, even if the check does not name them."""
