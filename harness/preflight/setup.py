"""A set-up that is being checked: the SUT file, and the known facts about the system."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.attach.findings import Findings
from harness.roots.system import System
from harness.sut.timeouts import Timeouts, timeouts_for


@dataclass(slots=True)
class Setup(System):
    """A system before a run: nothing was measured yet."""

    control: Findings | None = None
    """The answer of the control channel about itself; None without a channel or an answer."""
    lacking: set[str] = field(default_factory=set)
    """Capabilities that are declared and not there."""
    peer_can_listen: bool = True
    begins: bool = True
    """Whether a run can begin in spite of the findings so far."""
    known_queues: set[str] = field(default_factory=set)
    """Keys of [queues] whose existence a message has shown or refuted."""

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts of a run, except the measured ones."""
        return timeouts_for(self.file.timeouts, controlled=self.route is not None)
