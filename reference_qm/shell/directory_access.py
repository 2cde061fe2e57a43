"""Accesses the directory of a host on a separate thread, because an access may have to wait for another process that
has locked the directory's file.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reference_qm.directory import DirectoryStorageError
from reference_qm.surface import directory_access
from reference_qm.surface.effects import ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered
from reference_qm.surface.queue_manager_environment import EnvironmentRequest, QueueManagerEnvironment

DIRECTORY_POLL_INTERVAL_S = 0.5
"""The interval in s for checking a shared directory for changes."""


class DirectoryAccess:
    """Performs the directory requests of the core one after the other on a separate thread, so that the event
    loop is not blocked.
    """

    def __init__(self, surroundings: QueueManagerEnvironment) -> None:
        self._surroundings = surroundings
        self._directory = surroundings.directory
        self._thread = ThreadPoolExecutor(1, "directory")

    async def answer(self, effect: ReadDirectory | WriteDirectory) -> DirectoryAnswered:
        """Carry out a directory effect and return its answer."""
        loop = asyncio.get_running_loop()
        around = self._surroundings
        reached = around.directory_in_use if isinstance(effect, ReadDirectory) else around.reachable_directory
        return await loop.run_in_executor(self._thread, directory_access.answer_from_directory, reached, effect)

    async def carry_out(self, request: EnvironmentRequest) -> dict[str, Any] | str:
        """Carry out a request that concerns the environment. Return a reason if the request is refused."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._surroundings.carry_out, request)
        except DirectoryStorageError as error:
            return str(error)

    async def watch_shared_directory(self, changed: Callable[[], None]) -> None:
        """Report to the core that another program has changed the shared directory. Repeat this check until the host
        stops.
        """
        while self._directory is not None and self._directory.shared:
            await asyncio.sleep(DIRECTORY_POLL_INTERVAL_S)
            with contextlib.suppress(DirectoryStorageError):  # the next read reports the failure if it persists
                if await asyncio.get_running_loop().run_in_executor(self._thread, self._directory.are_objects_outdated):
                    changed()

    def close(self) -> None:
        """Release the directory after all pending writes are complete."""
        if self._directory is not None:
            self._thread.submit(self._directory.close)
        self._thread.shutdown()
