"""Carries out the effects with which a core reads or changes the directory. Every host uses this module."""

from __future__ import annotations

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.memory import MemoryDirectory
from reference_qm.surface.effects import ReadDirectory, WriteDirectory
from reference_qm.surface.inputs import DirectoryAnswered


def answer_from_directory(
    directory: MemoryDirectory | None, effect: ReadDirectory | WriteDirectory
) -> DirectoryAnswered:
    """Carry out a directory effect: read the directory, or change it and then read it. If ``directory`` is None, answer
    that the directory is unavailable.
    """
    if directory is None:
        return DirectoryAnswered(effect.token, Result.DIRECTORY_NOT_CONNECTED)
    if isinstance(effect, ReadDirectory):
        status, elements = directory.contents()
        return DirectoryAnswered(effect.token, status, elements=elements)
    done = directory.carry_out(effect.change)
    elements = directory.contents()[1] if done.rStatus is Result.SUCCESS else None
    return DirectoryAnswered(effect.token, done.rStatus, done.rObjectGUID, elements)
