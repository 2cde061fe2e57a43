"""Lock a run folder, so that only one process writes to it. The lock belongs to the process that takes the lock, and
not to processes that this process forks. The kernel releases the lock when this process ends, so a killed run does not
block later runs, even though its lock file remains.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from harness.errors import UsageError
from harness.run_folder import LOCK_FILE

_PID_LENGTH = 32
_LOCKED_ERRNOS = (errno.EACCES, errno.EAGAIN)


class RunLock:
    """A lock on a run folder. Until ``release`` is called, only this process may write to the folder."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, folder: Path) -> RunLock:
        """Lock the run folder. If another process holds the lock, raise UsageError with the id of that process. If
        the folder cannot be written, raise OSError.
        """
        path = folder / LOCK_FILE
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                _lock_file(descriptor, folder)
                if not _is_lock_file(
                    descriptor, path
                ):  # the process with the lock has removed the file in the meantime
                    os.close(descriptor)
                    continue
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            except BaseException:
                os.close(descriptor)
                raise
            return cls(path, descriptor)

    def release(self) -> None:
        """Remove the lock file and release the lock. Further calls have no effect."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _lock_file(descriptor: int, folder: Path) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _LOCKED_ERRNOS:
            raise
        pid = os.pread(descriptor, _PID_LENGTH, 0).decode("ascii", "replace").strip()
        raise UsageError(
            f"{folder}: {f'process {pid}' if pid else 'a process of another run'} is writing a run to this folder; "
            "wait until it ends, or give another --out"
        ) from None


def _is_lock_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
