"""Store the state of a varied check for its current row."""

from __future__ import annotations

from dataclasses import dataclass

from harness.judging.judge import Judge
from harness.peer.peer import Peer


@dataclass(slots=True)
class Rows:
    """The peer and the judge that a varied check uses with its current row."""

    peer: Peer
    judge: Judge
