"""A set-up that is being looked at: the SUT file, and what is known of the system so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.attach.findings import Findings
from harness.roots.system import System
from harness.sut.timeouts import Timeouts, timeouts_for


@dataclass(slots=True)
class Setup(System):
    """A system before a run: nothing was measured yet."""

    control: Findings | None = None
    """What the control channel said of itself; None when there is none, or it is silent."""
    lacking: set[str] = field(default_factory=set)
    """Capabilities that are declared and not there."""
    peer_can_listen: bool = True
    begins: bool = True
    """Whether a run begins with what was found so far."""
    known_queues: set[str] = field(default_factory=set)
    """Keys of [queues] of which a message showed whether they are there."""

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts of a run, but for what it measures."""
        return timeouts_for(self.file.timeouts, controlled=self.route is not None)
