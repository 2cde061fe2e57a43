"""The exceptions of the tester; the message of each is one line for the user."""

from __future__ import annotations

import errno
from pathlib import Path


class MqconformError(Exception):
    """The base class of all errors that the command line prints as one line."""


class HarnessError(MqconformError):
    """A bug in this project: in a check, in a row of the catalogue or in the harness itself."""


class SutUnavailable(MqconformError):
    """The system under test cannot be reached or does not answer its control channel."""


class SutLost(SutUnavailable):
    """The answering system is not the system of the run, or its identity is unknown: the run ends."""


class ConformanceFailure(MqconformError):
    """A check cannot continue because the SUT did not do what the next step needs."""


class RootMissing(ConformanceFailure):
    """A precondition of all later checks is missing or wrong; the run names it once, before its verdicts."""


class SutFlood(ConformanceFailure):
    """The SUT sends data without end; the message has the number of bytes received."""


class FolderError(MqconformError):
    """No further files can be written to the run folder."""

    OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)

    @classmethod
    def about(cls, path: Path, error: OSError) -> FolderError:
        """Return an error that names the file, the reason and the remedy."""
        return cls(f"{path} cannot be written: {error.strerror or error}; make room, then continue with --resume")


class UsageError(MqconformError):
    """Invalid input from the user, such as a file, an option or a selection."""


class UnknownFault(UsageError, LookupError):
    """A fault name that no section of the suites defines."""


class Endless(Exception):
    """A computation of the system under test does not end."""
