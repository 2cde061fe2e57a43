"""Host the virtual system under test, which has a disk. An exception in the core ends the host, as a crash ends a
process.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from traceback import extract_tb

import reference_qm
from harness.environment import Environment
from harness.environment.core_host import CoreHost
from harness.errors import EndlessComputation
from reference_qm.surface import directory_access
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Request, Result
from reference_qm.surface.driver import Core, CoreFactory
from reference_qm.surface.effects import Effect, Persist, ReadDirectory, RestartQueueManager, WriteDirectory
from reference_qm.surface.inputs import DirectoryChanged, Input, PersistFailed, RecordPersisted
from reference_qm.surface.queue_manager_environment import (
    DISK_FULL_REASON,
    AccessPublishedObject,
    ChangeEnvironment,
    EnvironmentRequest,
    QueueManagerEnvironment,
)
from reference_qm.surface.store import MemoryStore, StoreError

DIRECTORY_CHANGE_DELAY_MS = 500
"""int ms: the time after which the system notices a change or an outage of the directory, unless it uses the directory
earlier.
"""
_PROJECT_FOLDER = Path(reference_qm.__file__).parent.parent


class SystemHost(CoreHost):
    """A host that ends with the first exception of its core. Afterwards, the host neither listens nor answers.

    ``raises`` states whether the exception is passed to the caller instead of ending the host.
    """

    def __init__(
        self,
        environment: Environment,
        new_core: CoreFactory,
        address: str,
        *,
        surroundings: QueueManagerEnvironment | None = None,
        raises: bool = False,
    ) -> None:
        super().__init__(environment, _InputIgnoringCore(), address)
        self._surroundings = surroundings or QueueManagerEnvironment()
        self.ended: str | None = None
        """A one-line description of how the process of the core ended, or None while the process runs."""
        self.hangs = False
        """Whether the core is in an endless computation."""
        self._new_core = new_core
        self._raises_errors_of_core = raises
        self._disk = MemoryStore()

    @property
    def is_running(self) -> bool:
        """Return whether the process of the core is running and not in an endless computation."""
        return self.ended is None and not self.hangs

    def start(self) -> None:
        """Start the process with the content of the disk."""
        self.core = self._begin_core()
        self.rpc.report_open_ports()
        super().start()
        for event in self._surroundings.list_start_inputs():
            self.handle(event)

    def restart(self) -> None:
        """End the process and start it again. Only the content of the disk survives."""
        self.report_lost_transports("restart")
        self.driver.forget()
        self.start()

    def reset(self) -> None:
        """Continue as a newly installed system, with an empty disk and the initial environment."""
        self._disk.clear()
        self.restart()

    def now(self) -> Now:
        return self._surroundings.apply_clock_offset(super().now())

    def start_again(self, effect: RestartQueueManager) -> None:
        self._call_soon(self.restart)

    def persist(self, effect: Persist) -> None:
        """Write a record to the disk at once, because writing takes no time in this environment."""
        try:
            if not self._surroundings.available["storage"]:
                raise StoreError(DISK_FULL_REASON)
            self._disk.write_at_once([effect.record])
        except StoreError as error:
            self.answer_after_event(PersistFailed(effect.token, str(error)))
        else:
            self.answer_after_event(RecordPersisted(effect.token))

    def read_directory(self, effect: ReadDirectory) -> None:
        self.answer_after_event(directory_access.answer_from_directory(self._surroundings.directory_in_use, effect))

    def write_directory(self, effect: WriteDirectory) -> None:
        self.answer_after_event(directory_access.answer_from_directory(self._surroundings.reachable_directory, effect))

    def begin(self, request: Request | EnvironmentRequest) -> int:
        """Pass a command to the core, or change the environment of the core. After a change of the environment, the
        core is informed with a delay.
        """
        if not isinstance(request, ChangeEnvironment | AccessPublishedObject):
            return super().begin(request)
        self._token += 1
        before = dict(self._surroundings.available)
        done = self._surroundings.carry_out(request)
        self.answers[self._token] = done if isinstance(done, str) else Result(done)
        self._report_surroundings(before)
        core = self.core
        self.environment.call_at(
            self.now().monotonic_ms + DIRECTORY_CHANGE_DELAY_MS, lambda: self._report_directory_change(core)
        )
        return self._token

    def _report_directory_change(self, core: Core) -> None:
        if self.core is core:
            self.handle(DirectoryChanged())

    def _report_surroundings(self, before: Mapping[str, bool]) -> None:
        """Report to the queue manager which parts of its environment, such as the disk or the directory, have
        changed.
        """
        available = self._surroundings.available
        if entries := self._surroundings.list_changed_entries(before):
            self._disk.write_at_once([entries])
        for event in self._surroundings.list_change_inputs(before):
            self.handle(event)
        if available["service"] and not before["service"]:
            self.restart()

    def on_failure(self, error: Exception) -> None:
        """Behave like a process whose code raised an exception. Either the host ends, or it behaves as if it were in an
        endless computation.
        """
        if self._raises_errors_of_core:
            raise error
        self.core = _InputIgnoringCore()
        if isinstance(error, EndlessComputation):
            self.hangs = True
            return
        self.ended = _describe_exception(error)
        self.close_sockets()

    def _begin_core(self) -> Core:
        try:
            return _ExceptionReportingCore(self._new_core(self._disk.read()), self)
        except Exception as error:  # noqa: BLE001 - any exception would have ended the process
            self.on_failure(error)
            return self.core


class _ExceptionReportingCore:
    """A core that reports its exceptions to its host."""

    def __init__(self, core: Core, host: SystemHost) -> None:
        self._core = core
        self._host = host

    def handle(self, event: Input, now: Now) -> list[Effect]:
        try:
            return self._core.handle(event, now)
        except Exception as error:  # noqa: BLE001 - as above
            self._host.on_failure(error)
            return []

    def handle_timer(self, now: Now) -> list[Effect]:
        try:
            return self._core.handle_timer(now)
        except Exception as error:  # noqa: BLE001 - as above
            self._host.on_failure(error)
            return []

    def next_due(self) -> int | None:
        return self._core.next_due()


class _InputIgnoringCore:
    """A core that ignores all inputs. It takes the place of the real core before the start and after a failure."""

    def handle(self, event: Input, now: Now) -> list[Effect]:
        return []

    def handle_timer(self, now: Now) -> list[Effect]:
        return []

    def next_due(self) -> int | None:
        return None


def _describe_exception(error: Exception) -> str:
    """Return one line that names the exception and the place in the code that raised it."""
    place = extract_tb(error.__traceback__)[-1]
    file = Path(place.filename)
    shown = file.relative_to(_PROJECT_FOLDER) if file.is_relative_to(_PROJECT_FOLDER) else file.name
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{said} ({shown}:{place.lineno}, {place.name})"
