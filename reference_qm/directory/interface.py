"""Defines the requests to a directory and the directory's answers. Spec: MS-MQDSSM 3.1.6.1 to 3.1.6.7, as MS-MQDMPR
3.1.7.1.18 to 3.1.7.1.24 use them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.filters import AttributeFilter
from reference_qm.directory.objects import DirectoryObject

FilterExpressions = Sequence[AttributeFilter]
"""The iFilter: a list of expressions. An element must satisfy all of them; an empty list stands for NULL."""
AttributeList = Sequence[str] | None
"""The iAttributeList: a list of names of directory attributes. None stands for all attributes."""


@dataclass(frozen=True, slots=True)
class DirectoryCreateRequest:
    """The request Create Directory Object. Spec: MS-MQDSSM 3.1.6.1."""

    element: DirectoryObject
    attributes: AttributeList = None


@dataclass(frozen=True, slots=True)
class DirectoryDeleteRequest:
    """The request Delete Directory Object. Spec: MS-MQDSSM 3.1.6.2."""

    element: DirectoryObject


@dataclass(frozen=True, slots=True)
class DirectoryWriteRequest:
    """The request Write Directory. Spec: MS-MQDSSM 3.1.6.7."""

    element: DirectoryObject
    attributes: AttributeList = None


Change = DirectoryCreateRequest | DirectoryDeleteRequest | DirectoryWriteRequest
"""The changes that a directory can carry out."""


@dataclass(frozen=True, slots=True)
class DirectoryChangeResult:
    """The return values of a change. rObjectGUID is set only for a successful creation."""

    rStatus: DirectoryOperationResult
    rObjectGUID: UUID | None = None


@dataclass(frozen=True, slots=True)
class DirectoryReadResult:
    """The return values of a read. rDirectoryObject is set only if the status is Success."""

    rStatus: DirectoryOperationResult
    rDirectoryObject: DirectoryObject | None = None


@dataclass(frozen=True, slots=True)
class DirectoryReadBeginResult:
    """The return values of the start of an enumeration. rQueryHandle is set only if the status is Success."""

    rStatus: DirectoryOperationResult
    rQueryHandle: int | None = None
