"""Keeps the data that all processes of one queue manager use, from one restart to the next: its configuration, its
source of random values, and its faults. The store is separate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reference_qm.config import QueueManagerConfig
from reference_qm.core.enterprise.state_restoring import RestoreError
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.surface.driver import Core, RestorableCore
from reference_qm.surface.entropy import Entropy

QueueManagerFactory = Callable[[], QueueManager]
FaultyCoreWrapper = Callable[[QueueManagerFactory], RestorableCore]
"""A function that takes a constructor of queue managers and returns the core to use, for example a queue manager with
faults.
"""


def make_core_without_faults(make: QueueManagerFactory) -> RestorableCore:
    """Return a new queue manager without faults."""
    return make()


class QueueManagerInstallation:
    """Starts the successive processes of a queue manager. Each new process keeps the settings that commands have
    changed, until the queue manager is reset.

    ``variants`` contains subclasses of parts with different behavior, such as the behavior of a Windows release.
    """

    def __init__(
        self,
        config: QueueManagerConfig,
        entropy: Entropy,
        wrap: FaultyCoreWrapper = make_core_without_faults,
        variants: Sequence[type[QueueManagerPart]] = (),
    ) -> None:
        self._config = config
        self._entropy = entropy
        self._wrap = wrap
        self._variants = variants
        self._last: QueueManager | None = None

    def __call__(self, entries: Mapping[str, object]) -> Core:
        """Return the core of a new process that starts with the given entries of the store.

        Without entries, the core starts as configured. Raise RestoreError if the entries of the first process are
        unusable. If the entries of a later process are unusable, return a stopped core, which retries its
        initialization.
        """
        made: list[QueueManager] = []

        def make() -> QueueManager:
            made.append(QueueManager(self._config, self._entropy, is_restored=True))
            for variant in self._variants:
                replace_part_by_subclass(made[0], variant)
            if entries and self._last is not None:
                made[0].settings_changing.apply_settings(self._last)
                made[0].adm.InitializationRetryTimerDuration = self._last.adm.InitializationRetryTimerDuration
            return made[0]

        core = self._wrap(make)
        last, self._last = self._last, made[0]
        try:
            core.restore(entries)
        except RestoreError as error:
            if last is None:
                raise
            made[0].queue_manager_initialization.fail(str(error))
        return core
