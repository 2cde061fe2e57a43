"""A directory in memory. Spec: MS-MQDMPR 3.1.7.1.18-24, MS-MQDSSM 3.1.6.1-3.1.6.7, without the LDAP between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Final
from uuid import UUID

from reference_qm.directory import objects
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.filters import AttributeSortOrder
from reference_qm.directory.interface import AttributeList, Change, Create, Created, Delete, Filter
from reference_qm.directory.names import distinguished_name
from reference_qm.directory.objects import DirectoryObject, directory_attributes, with_attributes
from reference_qm.directory.replica import Replica
from reference_qm.directory.rules import (
    RULES,
    cost_is_valid,
    created_attributes,
    may_create,
    may_list,
    written_attributes,
)

_REFERENCES: Final = ("OutRoutingServerIdentifierList", "InRoutingServerIdentifierList", "SiteGateIdentifierList")
"""Lists of queue managers from which unknown ones are left out. Spec: MS-MQDSSM 3.1.6.1.1.6, .7, 3.1.6.1.4.6."""

_ENDS: Final = ("Site1Identifier", "Site2Identifier")


class StorageError(Exception):
    """A failure of what holds the objects; one line."""


class MemoryDirectory(Replica):
    """A directory whose objects live in memory, for one or many queue managers.

    ``connected`` may be set to False: then nobody can reach it, as when a network is down. ``new_identifier`` makes the
    Identifiers of its objects, ``utc_s`` returns its own time in s. ``observers`` are called when it was changed, lost
    or found again.
    """

    shared = False
    """May others change it unnoticed, so that it has to be asked whether it ``is_behind``?"""

    def __init__(self, new_identifier: Callable[[], UUID], utc_s: Callable[[], int]) -> None:
        self.observers: list[Callable[[], None]] = []
        super().__init__()
        self._new_identifier = new_identifier
        self._utc_s = utc_s
        self._paths: dict[str, UUID] = {}

    @property
    def connected(self) -> bool:
        """Can it be reached?"""
        return self._connected

    @connected.setter
    def connected(self, connected: bool) -> None:
        self._connected = connected
        self._notify()

    def another(self) -> MemoryDirectory:
        """Return another directory, which holds nothing, with Identifiers and a time of the same kind."""
        return MemoryDirectory(self._new_identifier, self._utc_s)

    def close(self) -> None:
        """Let go of whatever holds the objects."""

    def is_behind(self) -> bool:
        """Did somebody else change what was read last? Raises StorageError."""
        return False

    def contents(self) -> tuple[Result, tuple[DirectoryObject, ...] | None]:
        """Read everything; None when it cannot be read."""
        try:
            with self._open_to_read():
                return super().contents()
        except StorageError:
            return Result.GENERIC_ERROR, None

    def carry_out(self, change: Change) -> Created:
        """Make a change."""
        if isinstance(change, Create):
            return self.create(change.element, change.attributes)
        if isinstance(change, Delete):
            return Created(self.delete(change.element))
        return Created(self.write(change.element, change.attributes))

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
        with self._open_to_change():
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
            with self._open_to_change():
                if path.casefold() in self._paths:
                    return Created(Result.OBJECT_ALREADY_EXISTS)
                if not self._sites_exist(element):
                    return Created(Result.GENERIC_ERROR)
                published = with_attributes(element, created_attributes(type(element), attributes))
                return Created(
                    Result.SUCCESS, self._publish(self._drop_dangling_references(published), path).Identifier
                )
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
            with self._open_to_change():
                stored = self._find(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                below = f", {_path(stored)}"
                if any(path.endswith(below) for path in self._paths):
                    return Result.GENERIC_ERROR
                self._delete_element(stored)
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
            with self._open_to_change():
                stored = self._find(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                names = written_attributes(type(element), attributes)
                values = {name: getattr(element, name) for name in names if getattr(element, name) is not None}
                changed = self._drop_dangling_references(replace(stored, **values))
                if not values.keys().isdisjoint(_ENDS) and not self._sites_exist(changed):
                    return Result.GENERIC_ERROR
                self._store_element(_set_known_attributes(changed, ModifyTime=self._utc_s()))
                return Result.SUCCESS
        except StorageError:
            return Result.GENERIC_ERROR

    @contextmanager
    def _open_to_read(self) -> Iterator[None]:
        """Surround what reads the objects; raises StorageError."""
        yield

    @contextmanager
    def _open_to_change(self) -> Iterator[None]:
        """Surround what changes the objects: all of it or, after StorageError, nothing."""
        yield
        self._notify()

    def _notify(self) -> None:
        for observer in self.observers:
            observer()

    def _search(
        self,
        kind: str,
        filters: Filter,
        attributes: AttributeList,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> tuple[Result, list[DirectoryObject]]:
        try:
            with self._open_to_read():
                return super()._search(kind, filters, attributes, orders)
        except StorageError:
            return Result.GENERIC_ERROR, []

    def _store_element(self, element: DirectoryObject) -> None:
        """Keep an element that has its Identifier and its place; raises StorageError."""
        if type(element) not in RULES or element.Identifier is None or not _path(element):
            raise StorageError(f"a {type(element).__name__} without Identifier or name cannot be kept")
        self._objects[element.Identifier] = element
        self._paths[_path(element)] = element.Identifier

    def _delete_element(self, element: DirectoryObject) -> None:
        """Forget an element that is kept; raises StorageError."""
        del self._objects[self._paths.pop(_path(element))]

    def _find(self, element: DirectoryObject) -> DirectoryObject | None:
        """Find what an element means: by Identifier, else by FullPath, else by name. Spec: MS-MQDSSM 3.1.6.16."""
        identifier = element.Identifier or self._paths.get(_path(element))
        stored = self._objects.get(identifier) if identifier else None
        return stored if type(stored) is type(element) else None

    def _publish(self, element: DirectoryObject, path: str) -> DirectoryObject:
        now = self._utc_s()
        element = replace(element, Identifier=element.Identifier or self._new_identifier())
        element = _set_known_attributes(
            element, FullPath=path, DirectoryPath=f"LDAP://{path}", CreateTime=now, ModifyTime=now
        )
        self._store_element(element)
        return element

    def _sites_exist(self, element: DirectoryObject) -> bool:
        """Return whether both ends of a link, if it is one, exist. Spec: MS-MQDSSM 3.1.6.1.4.4, .5."""
        if not isinstance(element, objects.RoutingLink):
            return True
        ends = (element.Site1Identifier, element.Site2Identifier)
        return all(end and isinstance(self._objects.get(end), objects.Site) for end in ends)

    def _drop_dangling_references(self, element: DirectoryObject) -> DirectoryObject:
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


def _set_known_attributes(element: DirectoryObject, **values: Any) -> DirectoryObject:
    """Set those of the values whose attributes the type has."""
    names = {one.name for one in fields(element)}
    return replace(element, **{name: value for name, value in values.items() if name in names})
