"""The lock of a run folder: one process at a time writes there.

The kernel keeps the lock for the process that took it, not for forked processes, and frees it at the end of that
process. So the file of a killed run blocks no other run.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from harness.errors import UsageError
from harness.run_folder import LOCK_FILE

_PID_LENGTH = 32
_HELD = (errno.EACCES, errno.EAGAIN)


class RunLock:
    """A run folder that this process alone writes to, until ``release``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, folder: Path) -> RunLock:
        """Lock a folder; UsageError names the process that holds the lock, OSError a folder that cannot be written."""
        path = folder / LOCK_FILE
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                _lock(descriptor, folder)
                if not _is_at(descriptor, path):  # its holder has ended meanwhile, and taken the file away
                    os.close(descriptor)
                    continue
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            except BaseException:
                os.close(descriptor)
                raise
            return cls(path, descriptor)

    def release(self) -> None:
        """Take the file away and free the lock; once."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _HELD:
            raise
        pid = os.pread(descriptor, _PID_LENGTH, 0).decode("ascii", "replace").strip()
        raise UsageError(
            f"{folder}: process {pid or 'of another run'} writes a run there; wait for its end, or give another --out"
        ) from None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
