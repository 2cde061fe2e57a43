"""Implements the operations that read a directory. Their results come from a copy of the directory's objects, which is
as old as the last read of the whole directory. Spec: MS-MQDSSM 3.1.6.3 to 3.1.6.6.

The documents contradict each other in two points. A search that finds no object ends with ObjectNotFound, as in
MS-MQDMPR 3.1.1.17, and not with EndOfData, as in MS-MQDSSM 3.1.6.3.1. Filters may use every directory attribute, as in
MS-MQDMPR 3.1.7.1.20 and its note <21>, and not only the attributes that MS-MQDSSM 3.1.6.4 maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.filters import (
    AttributeSortOrder,
    ComparisonOperator,
    FilterError,
    check_filter_expressions,
    select_matching_elements,
    sort_elements,
)
from reference_qm.directory.interface import (
    AttributeList,
    DirectoryReadBeginResult,
    DirectoryReadResult,
    FilterExpressions,
)
from reference_qm.directory.objects import (
    OBJECT_TYPE_BY_NAME,
    DirectoryObject,
    copy_with_attributes,
    list_directory_attributes,
)
from reference_qm.directory.rules import may_request_contain_attribute_list

MAX_OPEN_QUERIES: Final = 1_024
"""The maximum number of open enumerations, so that abandoned enumerations do not occupy memory without limit."""


class DirectoryReplica:
    """A copy of the content that a directory had at one instant, with the operations that read it.

    A replica that is not ``connected`` answers as an unavailable directory does. In workgroup mode (MS-MQSO
    4.3.1.3) no directory exists, so the replica is not connected.
    """

    def __init__(self, elements: Iterable[DirectoryObject] = (), *, connected: bool = True) -> None:
        self.connected = connected
        self._objects = {element.Identifier: element for element in elements if element.Identifier is not None}
        self._queries: dict[int, tuple[list[DirectoryObject], AttributeList]] = {}
        self._last_handle = 0

    def contents(self) -> tuple[Result, tuple[DirectoryObject, ...] | None]:
        """Return all objects, or None if they cannot be read."""
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED, None
        return Result.SUCCESS, tuple(self._objects.values())

    def read(self, kind: str, filters: FilterExpressions = (), attributes: AttributeList = None) -> DirectoryReadResult:
        """Read an object. Spec: MS-MQDSSM 3.1.6.3."""
        status, found = self._search_elements(kind, filters, attributes)
        if status is not Result.SUCCESS:
            return DirectoryReadResult(status)
        return _select_attributes(found[0], attributes) if found else DirectoryReadResult(Result.OBJECT_NOT_FOUND)

    def read_begin(
        self,
        kind: str,
        filters: FilterExpressions = (),
        attributes: AttributeList = None,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> DirectoryReadBeginResult:
        """Start an enumeration of the objects that exist now. Spec: MS-MQDSSM 3.1.6.4."""
        status, found = self._search_elements(kind, filters, attributes, orders)
        if status is not Result.SUCCESS:
            return DirectoryReadBeginResult(status)
        if len(self._queries) >= MAX_OPEN_QUERIES:
            return DirectoryReadBeginResult(Result.GENERIC_ERROR)
        self._last_handle += 1
        self._queries[self._last_handle] = (found[::-1], attributes)
        return DirectoryReadBeginResult(Result.SUCCESS, self._last_handle)

    def read_next(self, handle: int) -> DirectoryReadResult:
        """Return the next object of an enumeration. Spec: MS-MQDSSM 3.1.6.5."""
        if handle not in self._queries:
            return DirectoryReadResult(Result.GENERIC_ERROR)
        remaining, attributes = self._queries[handle]
        return _select_attributes(remaining.pop(), attributes) if remaining else DirectoryReadResult(Result.END_OF_DATA)

    def read_end(self, handle: int) -> Result:
        """End an enumeration of objects. Spec: MS-MQDSSM 3.1.6.6."""
        return Result.GENERIC_ERROR if self._queries.pop(handle, None) is None else Result.SUCCESS

    def _search_elements(
        self,
        kind: str,
        filters: FilterExpressions,
        attributes: AttributeList,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> tuple[Result, list[DirectoryObject]]:
        of_kind = OBJECT_TYPE_BY_NAME.get(kind)
        if of_kind is None or not may_request_contain_attribute_list(of_kind, attributes):
            return Result.GENERIC_ERROR, []
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED, []
        try:
            check_filter_expressions(of_kind, filters)
            return Result.SUCCESS, sort_elements(
                select_matching_elements(self._list_candidate_elements(of_kind, filters), filters), attributes, orders
            )
        except FilterError:
            return Result.GENERIC_ERROR, []

    def _list_candidate_elements(
        self, kind: type[DirectoryObject], filters: FilterExpressions
    ) -> list[DirectoryObject]:
        """Return the elements of a type that a filter could match. A filter by Identifier matches at most one
        element.
        """
        for one in filters:
            if (
                one.attribute == "Identifier"
                and one.operator is ComparisonOperator.EQUALS
                and isinstance(one.value, UUID)
            ):
                stored = self._objects.get(one.value)
                return [stored] if type(stored) is kind else []
        return [stored for stored in self._objects.values() if type(stored) is kind]


def _select_attributes(element: DirectoryObject, attributes: AttributeList) -> DirectoryReadResult:
    """Return the requested attributes of an element, or AttributeNotFound if an attribute is not set. Spec:
    MS-MQDMPR 3.1.1.17.
    """
    known = list_directory_attributes(type(element))
    if any(getattr(element, name) is None for name in attributes or () if name in known):
        return DirectoryReadResult(Result.ATTRIBUTE_NOT_FOUND)
    return DirectoryReadResult(Result.SUCCESS, copy_with_attributes(element, attributes))
