"""Workgroup mode: there is no directory. Spec: MS-MQSO 4.3.1.3, MS-MQDSSM 3.1.3, 3.1.6.14."""

from __future__ import annotations

from collections.abc import Sequence

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.filters import AttributeSortOrder
from reference_qm.directory.interface import AttributeList, Begun, Created, Filter, Found
from reference_qm.directory.objects import DirectoryObject


class WorkgroupDirectory:
    """Answers as an access to a directory that was never connected to; no query was ever begun to go on with."""

    __slots__ = ()

    def create(self, element: DirectoryObject, attributes: AttributeList = None) -> Created:
        """Fail: there is nowhere to create."""
        return Created(Result.DIRECTORY_NOT_CONNECTED)

    def delete(self, element: DirectoryObject) -> Result:
        """Fail: there is nothing to delete."""
        return Result.DIRECTORY_NOT_CONNECTED

    def read(self, kind: str, filters: Filter = (), attributes: AttributeList = None) -> Found:
        """Fail: there is nothing to read."""
        return Found(Result.DIRECTORY_NOT_CONNECTED)

    def read_begin(
        self,
        kind: str,
        filters: Filter = (),
        attributes: AttributeList = None,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> Begun:
        """Fail: there is nothing to read."""
        return Begun(Result.DIRECTORY_NOT_CONNECTED)

    def read_next(self, handle: int) -> Found:
        """Fail: no handle is known. Spec: MS-MQDSSM 3.1.6.5."""
        return Found(Result.GENERIC_ERROR)

    def read_end(self, handle: int) -> Result:
        """Fail: no handle is known. Spec: MS-MQDSSM 3.1.6.6."""
        return Result.GENERIC_ERROR

    def write(self, element: DirectoryObject, attributes: AttributeList = None) -> Result:
        """Fail: there is nowhere to write."""
        return Result.DIRECTORY_NOT_CONNECTED
