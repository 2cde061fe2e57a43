"""The row that a varied check runs with."""

from __future__ import annotations

from dataclasses import dataclass

from harness.judging.judge import Judge
from harness.peer.peer import Peer


@dataclass(slots=True)
class Rows:
    """The peer and the judge of the present row of a check."""

    peer: Peer
    judge: Judge
