"""The interface of a directory. Spec: MS-MQDSSM 3.1.6.1-3.1.6.7, as MS-MQDMPR 3.1.7.1.18-24 uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult
from reference_qm.directory.filters import AttributeFilter, AttributeSortOrder
from reference_qm.directory.objects import DirectoryObject

Filter = Sequence[AttributeFilter]
"""iFilter: every expression holds; an empty one is NULL."""
AttributeList = Sequence[str] | None
"""iAttributeList: names of directory attributes; None is all of them."""


@dataclass(frozen=True, slots=True)
class Created:
    """Return values of a creation. rObjectGUID only with Success."""

    rStatus: DirectoryOperationResult
    rObjectGUID: UUID | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Return values of a read. rDirectoryObject only with Success."""

    rStatus: DirectoryOperationResult
    rDirectoryObject: DirectoryObject | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Return values of the beginning of an enumeration. rQueryHandle only with Success."""

    rStatus: DirectoryOperationResult
    rQueryHandle: int | None = None


class Directory(Protocol):
    """A directory. No operation raises: what fails says so in its rStatus."""

    def create(self, element: DirectoryObject, attributes: AttributeList = None) -> Created:
        """Create Directory Object. Spec: MS-MQDSSM 3.1.6.1."""

    def delete(self, element: DirectoryObject) -> DirectoryOperationResult:
        """Delete Directory Object. Spec: MS-MQDSSM 3.1.6.2."""

    def read(self, kind: str, filters: Filter = (), attributes: AttributeList = None) -> Found:
        """Read Directory: the first that satisfies the filter. Spec: MS-MQDSSM 3.1.6.3."""

    def read_begin(
        self,
        kind: str,
        filters: Filter = (),
        attributes: AttributeList = None,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> Begun:
        """Read Directory Begin. Spec: MS-MQDSSM 3.1.6.4."""

    def read_next(self, handle: int) -> Found:
        """Read Directory Next. Spec: MS-MQDSSM 3.1.6.5."""

    def read_end(self, handle: int) -> DirectoryOperationResult:
        """Read Directory End. Spec: MS-MQDSSM 3.1.6.6."""

    def write(self, element: DirectoryObject, attributes: AttributeList = None) -> DirectoryOperationResult:
        """Write Directory. Spec: MS-MQDSSM 3.1.6.7."""
