"""Define what a varied check uses for the current row of its covering array."""

from __future__ import annotations

from dataclasses import dataclass

from harness.judging.judge import Judge
from harness.peer.peer import Peer


@dataclass(slots=True)
class CurrentRowFixtures:
    """The peer and the judge that a varied check uses with the current row of its covering array."""

    peer: Peer
    judge: Judge
