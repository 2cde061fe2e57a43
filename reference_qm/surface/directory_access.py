"""What every host does to carry out the effects that concern its directory."""

from __future__ import annotations

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.memory import MemoryDirectory
from reference_qm.surface.effects import ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered


def answer(directory: MemoryDirectory | None, effect: ReadDirectory | WriteDirectory) -> DirectoryAnswered:
    """Read a directory, or change it and read what it holds then; None is one that cannot be reached."""
    if directory is None:
        return DirectoryAnswered(effect.token, Result.DIRECTORY_NOT_CONNECTED)
    done = directory.carry_out(effect.change) if isinstance(effect, WriteDirectory) else None
    status, elements = directory.contents()
    known = elements if status is Result.SUCCESS else None
    if done is None:
        return DirectoryAnswered(effect.token, status, elements=known)
    return DirectoryAnswered(effect.token, done.rStatus, done.rObjectGUID, known)
