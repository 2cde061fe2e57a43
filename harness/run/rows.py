"""Define the peer and the judge with which a varied check runs for one row of its covering array."""

from __future__ import annotations

from dataclasses import dataclass

from harness.judging.judge import Judge
from harness.peer.peer import Peer


@dataclass(slots=True)
class FixturesOfCurrentRow:
    """The peer and the judge with which a varied check runs for the current row of its covering array."""

    peer: Peer
    judge: Judge
