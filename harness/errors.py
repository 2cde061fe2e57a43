"""The exceptions of the tester. Each exception has a one-line message for the user."""

from __future__ import annotations

import errno
from pathlib import Path


class MqconformError(Exception):
    """The base class of all errors that the command line prints as one line."""


class HarnessError(MqconformError):
    """A bug in this project, such as a bug in a check, in a row of the catalogue or in the harness itself."""


class SutUnavailable(MqconformError):
    """Raised when the system under test cannot be reached or does not answer on its control channel."""


class SutLost(SutUnavailable):
    """The system that answers is not the system that answered at the start of the run, or its identity is unknown.
    The run must end.
    """


class ConformanceFailure(MqconformError):
    """Raised when a check cannot continue because the SUT did not do what the check's next step depends on."""


class RootMissing(ConformanceFailure):
    """A precondition of all later checks is missing or wrong. The run reports this error once, before its verdicts."""


class SutFlood(ConformanceFailure):
    """Raised when the SUT sends data without end. The message states how many bytes were received."""


class FolderError(MqconformError):
    """Raised when files can no longer be written to the run folder."""

    DISK_ERROR_NUMBERS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)

    @classmethod
    def from_os_error(cls, path: Path, error: OSError) -> FolderError:
        """Return an error that names the file, the reason and the remedy."""
        return cls(
            f"{path} cannot be written: {error.strerror or error}; remove the cause, then continue with --resume"
        )


class UsageError(MqconformError):
    """Raised for invalid input from the user, such as an unreadable file, an unknown option value or an empty
    selection.
    """


class UnknownFault(UsageError, LookupError):
    """Raised for a fault name that no section of the suites defines."""


class EndlessComputation(Exception):
    """Raised when a computation in the system under test does not end."""
