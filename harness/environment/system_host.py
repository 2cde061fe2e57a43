"""The host of the virtual system under test, which a mistake of its core ends or keeps busy, as it would a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb

import reference_qm
from harness.environment import Environment
from harness.environment.core_host import CoreHost
from harness.errors import Endless
from reference_qm.surface.clock import Now
from reference_qm.surface.driver import Core
from reference_qm.surface.effects import Effect
from reference_qm.surface.inputs import Input

_PACKAGE = Path(reference_qm.__file__).parent.parent


class SystemHost(CoreHost):
    """A host of a core that ends with the core's first exception: nobody listens then, and nothing is answered.

    ``raises``: the exception is the caller's instead.
    """

    def __init__(self, environment: Environment, core: Core, address: str, *, raises: bool = False) -> None:
        self.raises = raises
        self.ended: str | None = None
        """How its process ended, in one line; None while it runs."""
        self.hangs = False
        """Whether it computes without an end."""
        super().__init__(environment, self._guarded(core), address)

    def reset(self, core: Core) -> None:
        super().reset(self._guarded(core))

    def failed(self, error: Exception) -> None:
        """Do as a process does whose code failed: end, or be busy with what has no end."""
        if isinstance(error, Endless):
            self.hangs = True
            return
        self.ended = _described(error)
        self.close_sockets()

    @property
    def lives(self) -> bool:
        """Return whether its core is still called."""
        return self.ended is None and not self.hangs

    def _guarded(self, core: Core) -> Core:
        return core if self.raises else _Guarded(core, self)


class _Guarded:
    """A core that its host learns the failure of, and that is not called any more after it."""

    def __init__(self, core: Core, host: SystemHost) -> None:
        self._core = core
        self._host = host

    def handle(self, event: Input, now: Now) -> list[Effect]:
        return self._effects(lambda: self._core.handle(event, now))

    def next_due(self) -> int | None:
        return self._core.next_due() if self._host.lives else None

    def handle_timer(self, now: Now) -> list[Effect]:
        return self._effects(lambda: self._core.handle_timer(now))

    def restart(self) -> None:
        self._effects(self._restarted)

    def _restarted(self) -> list[Effect]:
        self._core.restart()
        return []

    def _effects(self, call: Callable[[], list[Effect]]) -> list[Effect]:
        if self._host.lives:
            try:
                return call()
            except Exception as error:  # noqa: BLE001 - whatever it is, it would have ended the process
                self._host.failed(error)
        return []


def _described(error: Exception) -> str:
    """Name an exception and the place that it came from, in one line."""
    place = extract_tb(error.__traceback__)[-1]
    file = Path(place.filename)
    shown = file.relative_to(_PACKAGE) if file.is_relative_to(_PACKAGE) else file.name
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{said} ({shown}:{place.lineno}, {place.name})"
