"""The interface of a core that the shell drives."""

from __future__ import annotations

from typing import Protocol

from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Effect
from reference_qm.surface.inputs import Input


class Core(Protocol):
    """A reference queue manager, or one wrapped in faults."""

    def handle(self, event: Input, now: Now, /) -> list[Effect]:
        """Take an input."""

    def next_due(self) -> int | None:
        """Return when a timer is due, in monotonic ms."""

    def handle_timer(self, now: Now, /) -> list[Effect]:
        """Let due timers expire."""

    def restart(self) -> None:
        """Keep only what must survive."""
