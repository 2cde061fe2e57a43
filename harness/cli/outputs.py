"""Check and create the output files and folders of a command before the command begins its long steps. An error is
reported in a one-line message.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UsageError


@contextmanager
def convert_write_errors_to_usage_errors(path: Path, option: str = "--out") -> Iterator[None]:
    """Convert an OSError that the body of this context raises to a UsageError. The one-line message of the UsageError
    names the file or folder that the user passed with an option.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}; give another {option}") from error


def require_writable_file(path: Path, option: str = "--out", *, new: bool = False) -> None:
    """Raise UsageError if a file cannot be written or, with ``new``, if it already exists. The file is not changed."""
    with convert_write_errors_to_usage_errors(path, option):
        is_there = path.exists()
        if is_there and new:
            raise UsageError(f"{path} already exists; give another {option}")
        path.open("ab").close()
        if not is_there:
            path.unlink()


def make_folder(path: Path) -> None:
    """Create a missing folder and its parents. Raise UsageError if the folder cannot be created or is not writable."""
    with convert_write_errors_to_usage_errors(path):
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".mqconform"
        probe.touch()
        probe.unlink()


def require_path_not_to_exist(path: Path, *, may_be_empty: bool = False) -> None:
    """Raise UsageError for a path that already exists. With ``may_be_empty``, an existing empty folder is accepted."""
    with convert_write_errors_to_usage_errors(path):
        if path.exists() and not (may_be_empty and path.is_dir() and not any(path.iterdir())):
            raise UsageError(f"{path} already exists; give another --out")
