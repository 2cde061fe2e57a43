"""What somebody beside the queue manager does, the same in every host: take its directory away, look into that.

The queue manager does not hear of it: it finds out, as it would of a network that is down.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeAlias
from uuid import UUID

from reference_qm.directory import (
    DirectoryObject,
    DirectoryOperationResult,
    MemoryDirectory,
    Queue,
    QueueManager,
    equals,
)
from reference_qm.value_object import value_object


@value_object
class ChangeEnvironment:
    """Take the directory away (``directory`` false) or give it back. Result: what there is to change, as it is now."""

    directory: bool | None = None


@value_object
class Published:
    """Read, or change as an administrator would, the directory's object of a public queue, or of the queue manager.

    None leaves an attribute as it is. Result: published, its attributes, or None when there is no such object.
    """

    queue: str | None = None
    label: str | None = None
    quota_kb: int | None = None


HostRequest: TypeAlias = ChangeEnvironment | Published
"""The requests that a host carries out itself."""

NULL_GUID = UUID(int=0)
NO_DIRECTORY = "there is no directory here: this is workgroup mode"
_ATTRIBUTES: Mapping[type[DirectoryObject], Mapping[str, str]] = MappingProxyType(
    {
        Queue: {
            "identifier": "Identifier",
            "label": "Label",
            "quota_kb": "Quota",
            "journaling": "Journaling",
            "transactional": "Transactional",
            "base_priority": "BasePriority",
        },
        QueueManager: {
            "identifier": "Identifier",
            "quota_kb": "QueueManagerQuota",
            "public_encryption_keys_base64": "PublicEncryptionKeyList",
            "public_signing_keys_base64": "PublicSigningKeyList",
        },
    }
)
"""The attributes that are shown, by the names that the control protocol has for them."""


class Surroundings:
    """A queue manager's directory, and whether it is within reach; None: there is none, this is workgroup mode."""

    def __init__(self, directory: MemoryDirectory | None = None, identifier: UUID = NULL_GUID) -> None:
        self.directory = directory
        self._identifier = identifier
        self._away = False

    @property
    def within_reach(self) -> MemoryDirectory | None:
        """Return the directory, unless it is away."""
        return None if self._away else self.directory

    def carry_out(self, request: HostRequest) -> dict[str, Any] | str:
        """Do what somebody beside the queue manager does; a str says in one line why that cannot be."""
        if isinstance(request, ChangeEnvironment):
            return self._change(request)
        return NO_DIRECTORY if self.directory is None else self._published(self.directory, request)

    def _change(self, request: ChangeEnvironment) -> dict[str, Any] | str:
        if self.directory is None:
            return {} if request.directory is None else NO_DIRECTORY
        if request.directory is not None:
            self._away = not request.directory
        return {"directory": not self._away}

    def _published(self, directory: MemoryDirectory, request: Published) -> dict[str, Any] | str:
        found = self._find(directory, request.queue)
        if found is None:
            return {"published": None}
        names = _ATTRIBUTES[type(found)]
        changes = {name: value for name in ("label", "quota_kb") if (value := getattr(request, name)) is not None}
        if unknown := changes.keys() - names.keys():
            return f"published: {min(unknown)} is an attribute of queues: say which queue"
        if changes:
            found = replace(found, **{names[name]: value for name, value in changes.items()})
            status = directory.write(found, tuple(names[name] for name in changes))
            if status is not DirectoryOperationResult.SUCCESS:
                return f"published: the directory refuses the change: {status.value}"
        return {"published": {name: _shown(getattr(found, attribute)) for name, attribute in names.items()}}

    def _find(self, directory: MemoryDirectory, queue: str | None) -> DirectoryObject | None:
        machine = directory.read("QueueManager", equals("Identifier", self._identifier)).rDirectoryObject
        if queue is None or not isinstance(machine, QueueManager):
            return machine
        return directory.read("Queue", equals("Pathname", f"{machine.ComputerName}\\{queue}")).rDirectoryObject


def _shown(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, UUID) else value
