"""Implements a directory in memory, without LDAP. Spec: MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.24, MS-MQDSSM 3.1.6.1 to
3.1.6.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Final
from uuid import UUID

from reference_qm.directory import objects
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.filters import AttributeSortOrder
from reference_qm.directory.interface import (
    AttributeList,
    Change,
    DirectoryChangeResult,
    DirectoryCreateRequest,
    DirectoryDeleteRequest,
    FilterExpressions,
)
from reference_qm.directory.names import build_distinguished_name
from reference_qm.directory.objects import DirectoryObject, copy_with_attributes, list_directory_attributes
from reference_qm.directory.replica import DirectoryReplica
from reference_qm.directory.rules import (
    RULES_BY_OBJECT_TYPE,
    build_created_attributes,
    build_written_attributes,
    is_link_cost_valid,
    may_create_element,
    may_request_contain_attribute_list,
)

_QUEUE_MANAGER_LIST_ATTRIBUTES: Final = (
    "OutRoutingServerIdentifierList",
    "InRoutingServerIdentifierList",
    "SiteGateIdentifierList",
)
"""The attributes that contain lists of queue managers. The directory removes unknown queue managers from these lists.
Spec: MS-MQDSSM 3.1.6.1.1.6, 3.1.6.1.1.7, 3.1.6.1.4.6.
"""

_LINK_END_ATTRIBUTES: Final = ("Site1Identifier", "Site2Identifier")


class DirectoryStorageError(Exception):
    """Raised when directory objects cannot be stored or read. The message has one line."""


class MemoryDirectory(DirectoryReplica):
    """A directory for one or more queue managers, whose objects are in memory.

    Setting ``connected`` to False makes the directory unavailable, as a network failure would. ``new_identifier``
    returns the Identifier for a new object, and ``utc_s`` returns the directory's own time in s. ``observers`` are
    called when the directory has changed, or has become unavailable or available.
    """

    shared = False
    """Whether other programs may change the directory. If so, the caller must call ``are_objects_outdated`` to detect
    changes by these programs.
    """

    def __init__(self, new_identifier: Callable[[], UUID], utc_s: Callable[[], int]) -> None:
        self.observers: list[Callable[[], None]] = []
        super().__init__()
        self._new_identifier = new_identifier
        self._utc_s = utc_s
        self._paths: dict[str, UUID] = {}

    @property
    def connected(self) -> bool:
        """Whether the directory is available."""
        return self._connected

    @connected.setter
    def connected(self, connected: bool) -> None:
        self._connected = connected
        self._notify_observers()

    def create_empty_directory(self) -> MemoryDirectory:
        """Return a new, empty directory with the functions ``new_identifier`` and ``utc_s`` of this directory."""
        return MemoryDirectory(self._new_identifier, self._utc_s)

    def close(self) -> None:
        """Release the storage of the objects."""

    def are_objects_outdated(self) -> bool:
        """Return whether another program has changed the objects since the last read. Raise DirectoryStorageError
        if the objects cannot be read.
        """
        return False

    def contents(self) -> tuple[Result, tuple[DirectoryObject, ...] | None]:
        """Return all objects, or None if they cannot be read."""
        try:
            with self._open_objects_to_read():
                return super().contents()
        except DirectoryStorageError:
            return Result.GENERIC_ERROR, None

    def carry_out(self, change: Change) -> DirectoryChangeResult:
        """Carry out a change."""
        if isinstance(change, DirectoryCreateRequest):
            return self.create(change.element, change.attributes)
        if isinstance(change, DirectoryDeleteRequest):
            return DirectoryChangeResult(self.delete(change.element))
        return DirectoryChangeResult(self.write(change.element, change.attributes))

    def provision(self, element: DirectoryObject) -> DirectoryObject:
        """Store an element, as an administrator does. The element has an Identifier, and has any type except
        ConnectedNetwork.

        Raise ValueError for an invalid element, and DirectoryStorageError if the element cannot be stored.
        """
        kind = type(element).__name__
        if type(element) not in RULES_BY_OBJECT_TYPE:
            raise ValueError(f"{kind}: this kind of directory does not store objects of this type")
        if not is_link_cost_valid(element):
            raise ValueError(f"{kind}.ActualCost: the value must be {objects.MIN_LINK_COST} to {objects.MAX_LINK_COST}")
        path = build_distinguished_name(element)
        if path is None:
            raise ValueError(f"{kind}: the attributes that form its name must be set")
        with self._open_objects_to_change():
            if path.casefold() in self._paths or element.Identifier in self._objects:
                raise ValueError(f"{path} already exists; change the existing object instead")
            return self._store_published_object(element, path)

    def create(self, element: DirectoryObject, attributes: AttributeList = None) -> DirectoryChangeResult:
        """Create an object. Spec: MS-MQDSSM 3.1.6.1. The directory chooses the Identifier."""
        if not may_create_element(element, attributes):
            return DirectoryChangeResult(Result.GENERIC_ERROR)
        path = build_distinguished_name(element)
        if path is None:
            return DirectoryChangeResult(Result.GENERIC_ERROR)
        if not self.connected:
            return DirectoryChangeResult(Result.DIRECTORY_NOT_CONNECTED)
        try:
            with self._open_objects_to_change():
                if path.casefold() in self._paths:
                    return DirectoryChangeResult(Result.OBJECT_ALREADY_EXISTS)
                if not self._do_linked_sites_exist(element):
                    return DirectoryChangeResult(Result.GENERIC_ERROR)
                published = copy_with_attributes(element, build_created_attributes(type(element), attributes))
                return DirectoryChangeResult(
                    Result.SUCCESS,
                    self._store_published_object(self._drop_dangling_references(published), path).Identifier,
                )
        except DirectoryStorageError:
            return DirectoryChangeResult(Result.GENERIC_ERROR)

    def delete(self, element: DirectoryObject) -> Result:
        """Delete an object. Spec: MS-MQDSSM 3.1.6.2, 3.1.6.13. An object that has child objects is not deleted, and the
        result is GenericError.
        """
        if (
            type(element) not in RULES_BY_OBJECT_TYPE
            or not RULES_BY_OBJECT_TYPE[type(element)].may_be_created
            or not (element.Identifier or _get_element_path(element))
        ):
            return Result.GENERIC_ERROR
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED
        try:
            with self._open_objects_to_change():
                stored = self._find_stored_element(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                below = f", {_get_element_path(stored)}"
                if any(path.endswith(below) for path in self._paths):
                    return Result.GENERIC_ERROR
                self._delete_element(stored)
                return Result.SUCCESS
        except DirectoryStorageError:
            return Result.GENERIC_ERROR

    def write(self, element: DirectoryObject, attributes: AttributeList = None) -> Result:
        """Write attributes of an object. Spec: MS-MQDSSM 3.1.6.7. An unset attribute of the element stays unchanged."""
        if (
            not may_request_contain_attribute_list(type(element), attributes)
            or not is_link_cost_valid(element)
            or not (element.Identifier or _get_element_path(element))
        ):
            return Result.GENERIC_ERROR
        if not self.connected:
            return Result.DIRECTORY_NOT_CONNECTED
        try:
            with self._open_objects_to_change():
                stored = self._find_stored_element(element)
                if stored is None:
                    return Result.OBJECT_NOT_FOUND
                names = build_written_attributes(type(element), attributes)
                values = {name: getattr(element, name) for name in names if getattr(element, name) is not None}
                changed = self._drop_dangling_references(replace(stored, **values))
                if not values.keys().isdisjoint(_LINK_END_ATTRIBUTES) and not self._do_linked_sites_exist(changed):
                    return Result.GENERIC_ERROR
                self._store_element(_set_known_attributes(changed, ModifyTime=self._utc_s()))
                return Result.SUCCESS
        except DirectoryStorageError:
            return Result.GENERIC_ERROR

    @contextmanager
    def _open_objects_to_read(self) -> Iterator[None]:
        """Return a context in which the objects of the directory can be read. Raise DirectoryStorageError if they
        cannot be read.
        """
        yield

    @contextmanager
    def _open_objects_to_change(self) -> Iterator[None]:
        """Return a context in which the objects of the directory can be changed. At its end, either all changes are
        stored, or DirectoryStorageError is raised and no change is stored.
        """
        yield
        self._notify_observers()

    def _notify_observers(self) -> None:
        for observer in self.observers:
            observer()

    def _search_elements(
        self,
        kind: str,
        filters: FilterExpressions,
        attributes: AttributeList,
        orders: Sequence[AttributeSortOrder] | None = None,
    ) -> tuple[Result, list[DirectoryObject]]:
        try:
            with self._open_objects_to_read():
                return super()._search_elements(kind, filters, attributes, orders)
        except DirectoryStorageError:
            return Result.GENERIC_ERROR, []

    def _store_element(self, element: DirectoryObject) -> None:
        """Store an element under its Identifier and its path. Raise DirectoryStorageError if this fails."""
        if type(element) not in RULES_BY_OBJECT_TYPE or element.Identifier is None or not _get_element_path(element):
            raise DirectoryStorageError(f"a {type(element).__name__} without Identifier or name cannot be stored")
        self._objects[element.Identifier] = element
        self._paths[_get_element_path(element)] = element.Identifier

    def _delete_element(self, element: DirectoryObject) -> None:
        """Delete a stored element. Raise DirectoryStorageError if this fails."""
        del self._objects[self._paths.pop(_get_element_path(element))]

    def _find_stored_element(self, element: DirectoryObject) -> DirectoryObject | None:
        """Find an object by its Identifier. Without an Identifier, find the object by its FullPath, and without a
        FullPath by its name. Spec: MS-MQDSSM 3.1.6.16.
        """
        identifier = element.Identifier or self._paths.get(_get_element_path(element))
        stored = self._objects.get(identifier) if identifier else None
        return stored if type(stored) is type(element) else None

    def _store_published_object(self, element: DirectoryObject, path: str) -> DirectoryObject:
        now = self._utc_s()
        element = replace(element, Identifier=element.Identifier or self._new_identifier())
        element = _set_known_attributes(
            element, FullPath=path, DirectoryPath=f"LDAP://{path}", CreateTime=now, ModifyTime=now
        )
        self._store_element(element)
        return element

    def _do_linked_sites_exist(self, element: DirectoryObject) -> bool:
        """Return whether both sites of a link exist; True for an element that is not a link.

        Spec: MS-MQDSSM 3.1.6.1.4.4, 3.1.6.1.4.5.
        """
        if not isinstance(element, objects.RoutingLink):
            return True
        ends = (element.Site1Identifier, element.Site2Identifier)
        return all(end and isinstance(self._objects.get(end), objects.Site) for end in ends)

    def _drop_dangling_references(self, element: DirectoryObject) -> DirectoryObject:
        """Remove references to unknown queue managers from an element."""
        lists: dict[str, Any] = {
            name: tuple(
                one for one in getattr(element, name) if isinstance(self._objects.get(one), objects.QueueManager)
            )
            for name in _QUEUE_MANAGER_LIST_ATTRIBUTES
            if name in list_directory_attributes(type(element))
        }
        return replace(element, **lists)


def _get_element_path(element: DirectoryObject) -> str:
    """Return the path of an element in lower case, or an empty text if the path is not set."""
    path: str = getattr(element, "FullPath", None) or build_distinguished_name(element) or ""
    return path.casefold()


def _set_known_attributes(element: DirectoryObject, **values: Any) -> DirectoryObject:
    """Set the given attributes of an element, except names that its type does not have."""
    names = {one.name for one in fields(element)}
    return replace(element, **{name: value for name, value in values.items() if name in names})
