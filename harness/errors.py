"""The errors of the tester, each with one line for a person."""

from __future__ import annotations

import errno
from pathlib import Path


class MqconformError(Exception):
    """Base of everything that the command line shows as one line."""


class HarnessError(MqconformError):
    """Our own mistake: a check, a catalogue row or the harness itself is wrong."""


class SutUnavailable(MqconformError):
    """The system under test cannot be reached or does not answer its control channel."""


class SutLost(SutUnavailable):
    """The answering system is not the system of the run, or its identity is unknown: the run ends."""


class ConformanceFailure(MqconformError):
    """A check cannot continue because the SUT did not do what the next step needs."""


class RootMissing(ConformanceFailure):
    """Something on which all that follows rests is missing or wrong: the run names it once, before its verdicts."""


class SutFlood(ConformanceFailure):
    """The SUT sends without end: a finding about it, with the number of bytes."""


class FolderError(MqconformError):
    """Nothing can be written under the run folder any more."""

    OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)

    @classmethod
    def about(cls, path: Path, error: OSError) -> FolderError:
        """Return an error that names the file, the reason and the remedy."""
        return cls(f"{path}: cannot be written: {error.strerror or error}; make room, then continue with --resume")


class UsageError(MqconformError):
    """Bad input of a person: a file, an option, a selection."""


class UnknownFault(UsageError, LookupError):
    """No section of the suites has a fault of this name."""


class Endless(Exception):
    """Computing without end."""
