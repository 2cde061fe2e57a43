"""What the processes of one queue manager have in common beside their store: configuration, entropy and faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference_qm.config import QueueManagerConfig
from reference_qm.core.enterprise.restoring import RestoreError
from reference_qm.core.part import Part
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import put_in_place
from reference_qm.surface.driver import Core, RestorableCore
from reference_qm.surface.entropy import Entropy

Make = Callable[[], QueueManager]
Wrap = Callable[[Make], RestorableCore]
"""Returns a core of what it makes, such as one with faults."""


def plain(make: Make) -> RestorableCore:
    """Return a queue manager as it is made."""
    return make()


class Installation:
    """Starts one process after another: a ``NewCore``. Settings that one was changed to have stay until a reset.

    ``variants``: subclasses of parts that do otherwise, as a release of Windows does.
    """

    def __init__(
        self, config: QueueManagerConfig, entropy: Entropy, wrap: Wrap = plain, variants: Sequence[type[Part]] = ()
    ) -> None:
        self._config = config
        self._entropy = entropy
        self._wrap = wrap
        self._variants = variants
        self._last: QueueManager | None = None

    def __call__(self, entries: Mapping[str, object]) -> Core:
        """Return the core of a new process with these entries; RestoreError when those of the first make no sense.

        Without any it begins its first life: as configured, whatever was before. A later one whose entries make no
        sense is stopped, and tries again by itself.
        """
        made: list[QueueManager] = []

        def make() -> QueueManager:
            made.append(QueueManager(self._config, self._entropy))
            for variant in self._variants:
                put_in_place(made[0], variant)
            if entries and self._last is not None:
                made[0].configuring.configure_as(self._last)
                made[0].adm.InitializationRetryTimerDuration = self._last.adm.InitializationRetryTimerDuration
            return made[0]

        core = self._wrap(make)
        last, self._last = self._last, made[0]
        try:
            core.restore(entries)
        except RestoreError as error:
            if last is None:
                raise
            made[0].initialization.fail(str(error))
        return core
