"""Represent a set-up that is being checked. A set-up consists of the SUT file and the known facts about the system."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.attach.findings import AgentFindings
from harness.prerequisites.system import SystemWithCheckedPrerequisites
from harness.sut.timeouts import Timeouts, compute_timeouts


@dataclass(slots=True)
class RunSetup(SystemWithCheckedPrerequisites):
    """The set-up of a run, which consists of the SUT file and the facts that are known so far."""

    control: AgentFindings | None = None
    """The findings about the control channel, or None if there is no control channel or it does not answer."""
    missing_capabilities: set[str] = field(default_factory=set)
    """The declared capabilities that the system does not have."""
    peer_can_listen: bool = True
    can_run_begin: bool = True
    """Whether a run can begin in spite of the findings so far."""
    keys_of_known_queues: set[str] = field(default_factory=set)
    """The keys of the queues in [queues] whose existence a message has confirmed or refuted."""

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts of the SUT file, or the default timeouts. A run extends these timeouts for a slow system."""
        return compute_timeouts(self.file.timeouts, controlled=self.route is not None)
