"""What somebody beside the queue manager does, the same in every host: take away what it depends on, look into that."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, TypeAlias
from uuid import UUID

from reference_qm.directory import (
    DirectoryObject,
    DirectoryOperationResult,
    DistributionList,
    MemoryDirectory,
    Queue,
    QueueManager,
    Site,
    equals,
)
from reference_qm.directory.properties import distribution_list, object_sid
from reference_qm.surface.inputs import CoordinatorChanged, Input, ResourcesChanged, Stopped
from reference_qm.value_object import value_object


@value_object
class ChangeEnvironment:
    """Take something away (false) or give it back. Result: what there is to change, as it is now.

    ``directory``; ``domain``: the machine belongs to the domain of that; ``registration``: what that has of the machine
    is the queue manager's own, and not another's; ``coordinator``: the Transaction Coordinator; ``storage``: room on
    the disk; ``store``: what is on it makes sense, which a queue manager sees when it starts; ``service``: the queue
    manager itself, which is stopped.
    """

    directory: bool | None = None
    domain: bool | None = None
    registration: bool | None = None
    coordinator: bool | None = None
    storage: bool | None = None
    store: bool | None = None
    service: bool | None = None


@value_object
class Published:
    """Read, or change as an administrator would, an object of the directory.

    ``queue``: a public queue here; ``distribution_list``: one of that name, of queues and lists (``members``, by their
    identifiers); ``site`` and ``queue_manager``: those of an identifier; without these, the queue manager itself.
    ``present``: make the object of a queue or a list when there is none, or delete it, past the queue manager.
    None leaves things as they are. Result: published, its attributes, or None when there is no such object.
    """

    queue: str | None = None
    distribution_list: str | None = None
    site: UUID | None = None
    queue_manager: UUID | None = None
    present: bool | None = None
    label: str | None = None
    intra_site_replication_interval_s: int | None = None
    quota_kb: int | None = None
    members: tuple[UUID, ...] | None = None


HostRequest: TypeAlias = ChangeEnvironment | Published
"""The requests that a host carries out itself."""

NULL_GUID = UUID(int=0)
DAMAGE = "damage:1"
"""The name of an entry that makes no sense in a store."""
FULL = "no space is left on the device"
OF_A_DIRECTORY = frozenset({"directory", "domain", "registration"})
"""The parts that a queue manager in workgroup mode does not have."""
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
        Site: {
            "identifier": "Identifier",
            "name": "Name",
            "intra_site_replication_interval_s": "IntraSiteReplicationInterval",
        },
        DistributionList: {"identifier": "Identifier", "name": "Name", "members": "Members"},
    }
)
"""The attributes that are shown, by the names that the control protocol has for them."""
CHANGEABLE = ("intra_site_replication_interval_s", "label", "members", "quota_kb")
"""Those that can be changed."""


class Surroundings:
    """What is around a queue manager, and what of it is there.

    ``directory``: None where there is none, in workgroup mode; ``there``: the parts by the names that ChangeEnvironment
    has for them, and whether each is there.
    """

    def __init__(self, directory: MemoryDirectory | None = None, identifier: UUID = NULL_GUID) -> None:
        self.directory = directory
        self._identifier = identifier
        parts = (one.name for one in fields(ChangeEnvironment))
        self.there = {name: True for name in parts if name not in OF_A_DIRECTORY or directory is not None}

    @property
    def within_reach(self) -> MemoryDirectory | None:
        """Return the directory, unless it is away."""
        return self.directory if self.there.get("directory", False) else None

    @property
    def consulted(self) -> MemoryDirectory | None:
        """Return the directory that a queue manager reads: none outside of its domain."""
        return self.within_reach if self.there.get("domain", False) else None

    def as_found(self) -> list[Input]:
        """Return what a queue manager that starts finds out of what is away."""
        everything = dict.fromkeys(self.there, True)
        return [one for one in self.noticed(everything) if not isinstance(one, Stopped)]

    def noticed(self, before: Mapping[str, bool]) -> list[Input]:
        """Return what a queue manager finds out of what is there, or away, that was not so before.

        That its directory is not as it was it finds out later.
        """
        changed = {name: there for name, there in self.there.items() if before.get(name) != there}
        events: list[Input] = []
        if "coordinator" in changed:
            events.append(CoordinatorChanged(changed["coordinator"]))
        if "storage" in changed:
            events.append(ResourcesChanged(low=not changed["storage"]))
        if changed.get("service") is False:
            events.append(Stopped())
        return events

    def carry_out(self, request: HostRequest) -> dict[str, Any] | str:
        """Do what somebody beside the queue manager does; a str says in one line why that cannot be."""
        if isinstance(request, ChangeEnvironment):
            return self._change(request)
        return NO_DIRECTORY if self.directory is None else self._published(self.directory, request)

    def _change(self, request: ChangeEnvironment) -> dict[str, Any] | str:
        asked = {one.name: getattr(request, one.name) for one in fields(request)}
        wanted = {name: value for name, value in asked.items() if value is not None}
        if self.directory is None and not OF_A_DIRECTORY.isdisjoint(wanted):
            return NO_DIRECTORY
        if (
            self.directory is not None
            and wanted.get("registration", self.there["registration"]) is not (self.there["registration"])
        ):
            refused = self._register(self.directory, wanted["registration"])
            if refused is not None:
                return refused
        self.there |= wanted
        return dict(self.there)

    def _register(self, directory: MemoryDirectory, own: bool) -> str | None:
        """Let the object of the machine be the queue manager's own, or another's; a str says why that cannot be."""
        another = UUID(int=self._identifier.int ^ 1)
        there, wanted = (another, self._identifier) if own else (self._identifier, another)
        machine = directory.read("QueueManager", equals("Identifier", there)).rDirectoryObject
        if not isinstance(machine, QueueManager):
            return "registration: the directory has no object of this machine"
        if directory.delete(machine) is not DirectoryOperationResult.SUCCESS:
            return "registration: the object of this machine cannot be replaced: delete its public queues first"
        directory.provision(replace(machine, Identifier=wanted))
        return None

    def _published(self, directory: MemoryDirectory, request: Published) -> dict[str, Any] | str:
        if (request.queue or request.distribution_list) is not None and request.present is not None:
            self._have(directory, request, present=request.present)
        found = self._find(directory, request)
        if found is None:
            return {"published": None}
        names = _ATTRIBUTES[type(found)]
        changes = {name: value for name in CHANGEABLE if (value := getattr(request, name)) is not None}
        if unknown := changes.keys() - names.keys():
            return (
                f"published: {min(unknown)} is no attribute of this object: name another queue, site or queue_manager"
            )
        if changes:
            found = replace(found, **{names[name]: value for name, value in changes.items()})
            status = directory.write(found, tuple(names[name] for name in changes))
            if status is not DirectoryOperationResult.SUCCESS:
                return f"published: the directory refuses the change: {status.value}"
        shown = {name: _shown(getattr(found, attribute)) for name, attribute in names.items()}
        if isinstance(found, QueueManager):
            shown["computer_sid_base64"] = _shown(object_sid(directory, found.ComputerName))
        return {"published": shown}

    def _have(self, directory: MemoryDirectory, request: Published, *, present: bool) -> None:
        """Make or delete the object of a queue or a list; which of both failed is seen by what is there."""
        machine, found = self._find(directory, Published()), self._find(directory, request)
        if present and found is None and request.distribution_list is not None:
            directory.create(DistributionList(Name=request.distribution_list))
        elif present and found is None and isinstance(machine, QueueManager):
            directory.create(Queue(Pathname=f"{machine.ComputerName}\\{request.queue}"))
        elif not present and found is not None:
            directory.delete(found)

    def _find(self, directory: MemoryDirectory, request: Published) -> DirectoryObject | None:
        if request.site is not None:
            return directory.read("Site", equals("Identifier", request.site)).rDirectoryObject
        if request.distribution_list is not None:
            return distribution_list(directory, request.distribution_list)
        identifier = request.queue_manager or self._identifier
        machine = directory.read("QueueManager", equals("Identifier", identifier)).rDirectoryObject
        if request.queue is None or not isinstance(machine, QueueManager):
            return machine
        path = f"{machine.ComputerName}\\{request.queue}"
        return directory.read("Queue", equals("Pathname", path)).rDirectoryObject


def _shown(value: object) -> object:
    if isinstance(value, tuple):
        return [_shown(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, UUID) else value
