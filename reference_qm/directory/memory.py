"""A directory in memory. Spec: MS-MQDMPR 3.1.7.1.18-24, MS-MQDSSM 3.1.6.1-3.1.6.7, without the LDAP between.

Where the documents differ: a search for one object that finds none is ObjectNotFound, as MS-MQDMPR 3.1.1.17 says, not
the EndOfData that MS-MQDSSM 3.1.6.3.1 would hand on; every directory attribute can be filtered by, as MS-MQDMPR
3.1.7.1.20 and its note <21> want, not only those that MS-MQDSSM 3.1.6.4 maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Final
from uuid import UUID

from reference_qm.directory import objects
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.filters import (
    AttributeSortOrder,
    FilterError,
    Operator,
    check_filter,
    in_order,
    matching,
)
from reference_qm.directory.interface import AttributeList, Begun, Created, Filter, Found
from reference_qm.directory.names import distinguished_name
from reference_qm.directory.objects import OBJECT_TYPES, DirectoryObject, directory_attributes, with_attributes
from reference_qm.directory.rules import (
    RULES,
    cost_is_valid,
    created_attributes,
    may_create,
    may_list,
    written_attributes,
)
from reference_qm.surface.entropy import Entropy, new_guid

MAX_QUERIES: Final = 1_024
"""Enumerations that may be open at a time: one that nobody ends must not hold memory for ever."""

_REFERENCES: Final = ("OutRoutingServerIdentifierList", "InRoutingServerIdentifierList", "SiteGateIdentifierList")
"""Lists of queue managers from which unknown ones are left out. Spec: MS-MQDSSM 3.1.6.1.1.6, .7, 3.1.6.1.4.6."""

_ENDS: Final = ("Site1Identifier", "Site2Identifier")


class StorageError(Exception):
    """A failure of what holds the objects; one line."""


class MemoryDirectory:
    """A directory whose objects live in memory, for one or many queue managers.

    ``connected`` may be set to False: then nobody can reach it, as when a network is down. ``utc_s`` returns the
    directory's own time in s.
    """

    def __init__(self, entropy: Entropy, utc_s: Callable[[], int]) -> None:
        self.connected = True
        self._entropy = entropy
        self._utc_s = utc_s
        self._objects: dict[UUID, DirectoryObject] = {}
        self._paths: dict[str, UUID] = {}
        self._queries: dict[int, tuple[list[DirectoryObject], AttributeList]] = {}
        self._last_handle = 0

    def provision(self, element: DirectoryObject) -> DirectoryObject:
        """Put an element as an administrator does: of any type but ConnectedNetwork, and with its own Identifier.

        Raises ValueError for one that cannot be there, StorageError when it could not be kept.
        """
        kind = type(element).__name__
        if type(element) not in RULES:
            raise ValueError(f"{kind}: a directory of this kind holds no such objects")
        if not cost_is_valid(element):
            raise ValueError(f"{kind}.ActualCost: {objects.MIN_COST} to {objects.MAX_COST} are possible")
        path = distinguished_name(element)
        if path is None:
            raise ValueError(f"{kind}: set the attributes that name it")
        with self._changing():
            if path.casefold() in self._paths or element.Identifier in self._objects:
                raise ValueError(f"{path}: exists already; write it instead")
            return self._publish(element, path)

    def create(self, element: DirectoryObject, attributes: AttributeList = None) -> Created:
        """Create Directory Object. Spec: MS-MQDSSM 3.1.6.1. The Identifier is the directory's choice."""
        if not may_create(element, attributes):
            return Created(Result.GENERIC_ERROR)
        path = distinguished_name(element)
        if path is None:
            return Created(Result.GENERIC_ERROR)
        if not self.connected:
            return Created(Result.DIRECTORY_NOT_CONNECTED)
        try:
            with self._changing():
                if path.casefold() in self._paths:
                    return Created(Result.OBJECT_ALREADY_EXISTS)
                if not self._sites_exist(element):
                    return Created(Result.GENERIC_ERROR)
                published = with_attributes(element, created_attributes(type(element), attributes))
                return Created(Result.SUCCESS, self._publish(self._resolved(published), path).Identifier)
        except StorageError:
            return Created(Result.GENERIC_ERROR)

    def delete(self, element: DirectoryObject) -> Result:
        """Delete Directory Object. Spec: MS-MQDSSM 3.1.6.2, 3.1.6.13. What has objects below it stays: GenericError."""
        if (
            type(element) not in RULES
            or not RULES[type(element)].creatable
            or not (element.Identifier or _path(element))
        ):
            return Result.GENERIC_ERROR
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED
        try:
            with self._changing():
                stored = self._find(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                below = f", {_path(stored)}"
                if any(path.endswith(below) for path in self._paths):
                    return Result.GENERIC_ERROR
                self._drop(stored)
                return Result.SUCCESS
        except StorageError:
            return Result.GENERIC_ERROR

    def write(self, element: DirectoryObject, attributes: AttributeList = None) -> Result:
        """Write Directory. Spec: MS-MQDSSM 3.1.6.7. What is not set in the element is left as it is."""
        if (
            not may_list(type(element), attributes)
            or not cost_is_valid(element)
            or not (element.Identifier or _path(element))
        ):
            return Result.GENERIC_ERROR
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED
        try:
            with self._changing():
                stored = self._find(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                names = written_attributes(type(element), attributes)
                values = {name: getattr(element, name) for name in names if getattr(element, name) is not None}
                changed = self._resolved(replace(stored, **values))
                if not values.keys().isdisjoint(_ENDS) and not self._sites_exist(changed):
                    return Result.GENERIC_ERROR
                self._put(_stamped(changed, ModifyTime=self._utc_s()))
                return Result.SUCCESS
        except StorageError:
            return Result.GENERIC_ERROR

    def read(self, kind: str, filters: Filter = (), attributes: AttributeList = None) -> Found:
        """Read Directory. Spec: MS-MQDSSM 3.1.6.3."""
        status, found = self._search(kind, filters, attributes)
        if status is not Result.SUCCESS:
            return Found(status)
        return _shown(found[0], attributes) if found else Found(Result.OBJECT_NOT_FOUND)

    def read_begin(
        self,
        kind: str,
        filters: Filter = (),
        attributes: AttributeList = None,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> Begun:
        """Read Directory Begin. Spec: MS-MQDSSM 3.1.6.4. The results are those of this moment."""
        status, found = self._search(kind, filters, attributes, orders)
        if status is not Result.SUCCESS:
            return Begun(status)
        if len(self._queries) >= MAX_QUERIES:
            return Begun(Result.GENERIC_ERROR)
        self._last_handle += 1
        self._queries[self._last_handle] = (found[::-1], attributes)
        return Begun(Result.SUCCESS, self._last_handle)

    def read_next(self, handle: int) -> Found:
        """Read Directory Next. Spec: MS-MQDSSM 3.1.6.5."""
        if handle not in self._queries:
            return Found(Result.GENERIC_ERROR)
        remaining, attributes = self._queries[handle]
        return _shown(remaining.pop(), attributes) if remaining else Found(Result.END_OF_DATA)

    def read_end(self, handle: int) -> Result:
        """Read Directory End. Spec: MS-MQDSSM 3.1.6.6."""
        return Result.GENERIC_ERROR if self._queries.pop(handle, None) is None else Result.SUCCESS

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Surround what reads the objects; raises StorageError."""
        yield

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Surround what changes the objects: all of it or, after StorageError, nothing."""
        yield

    def _put(self, element: DirectoryObject) -> None:
        """Keep an element that has its Identifier and its place; raises StorageError."""
        if type(element) not in RULES or element.Identifier is None or not _path(element):
            raise StorageError(f"a {type(element).__name__} without Identifier or name cannot be kept")
        self._objects[element.Identifier] = element
        self._paths[_path(element)] = element.Identifier

    def _drop(self, element: DirectoryObject) -> None:
        """Forget an element that is kept; raises StorageError."""
        del self._objects[self._paths.pop(_path(element))]

    def _search(
        self,
        kind: str,
        filters: Filter,
        attributes: AttributeList,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> tuple[Result, list[DirectoryObject]]:
        of_kind = OBJECT_TYPES.get(kind)
        if of_kind is None or not may_list(of_kind, attributes):
            return Result.GENERIC_ERROR, []
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED, []
        try:
            check_filter(of_kind, filters)
            with self._reading():
                return Result.SUCCESS, in_order(
                    matching(self._candidates(of_kind, filters), filters), attributes, orders
                )
        except (FilterError, StorageError):
            return Result.GENERIC_ERROR, []

    def _candidates(self, kind: type[DirectoryObject], filters: Filter) -> list[DirectoryObject]:
        """Return the elements of a type that a filter could mean: one only when it asks for an Identifier."""
        for one in filters:
            if one.attribute == "Identifier" and one.operator is Operator.EQUALS and isinstance(one.value, UUID):
                stored = self._objects.get(one.value)
                return [stored] if type(stored) is kind else []
        return [stored for stored in self._objects.values() if type(stored) is kind]

    def _find(self, element: DirectoryObject) -> DirectoryObject | None:
        """Find what an element means: by Identifier, else by FullPath, else by name. Spec: MS-MQDSSM 3.1.6.16."""
        identifier = element.Identifier or self._paths.get(_path(element))
        stored = self._objects.get(identifier) if identifier else None
        return stored if type(stored) is type(element) else None

    def _publish(self, element: DirectoryObject, path: str) -> DirectoryObject:
        now = self._utc_s()
        element = replace(element, Identifier=element.Identifier or new_guid(self._entropy))
        element = _stamped(element, FullPath=path, DirectoryPath=f"LDAP://{path}", CreateTime=now, ModifyTime=now)
        self._put(element)
        return element

    def _sites_exist(self, element: DirectoryObject) -> bool:
        """Return whether both ends of a link, if it is one, exist. Spec: MS-MQDSSM 3.1.6.1.4.4, .5."""
        if not isinstance(element, objects.RoutingLink):
            return True
        ends = (element.Site1Identifier, element.Site2Identifier)
        return all(end and isinstance(self._objects.get(end), objects.Site) for end in ends)

    def _resolved(self, element: DirectoryObject) -> DirectoryObject:
        """Leave out references to queue managers that are not there."""
        lists: dict[str, Any] = {
            name: tuple(
                one for one in getattr(element, name) if isinstance(self._objects.get(one), objects.QueueManager)
            )
            for name in _REFERENCES
            if name in directory_attributes(type(element))
        }
        return replace(element, **lists)


def _path(element: DirectoryObject) -> str:
    """Return the path of an element, in one case; empty when it does not say."""
    path: str = getattr(element, "FullPath", None) or distinguished_name(element) or ""
    return path.casefold()


def _stamped(element: DirectoryObject, **values: Any) -> DirectoryObject:
    """Set those of the values whose attributes the type has."""
    names = {one.name for one in fields(element)}
    return replace(element, **{name: value for name, value in values.items() if name in names})


def _shown(element: DirectoryObject, attributes: AttributeList) -> Found:
    """Return the attributes asked for; one that is not set is AttributeNotFound. Spec: MS-MQDMPR 3.1.1.17."""
    known = directory_attributes(type(element))
    if any(getattr(element, name) is None for name in attributes or () if name in known):
        return Found(Result.ATTRIBUTE_NOT_FOUND)
    return Found(Result.SUCCESS, with_attributes(element, attributes))
