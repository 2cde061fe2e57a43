"""Simulates changes in the environment of a queue manager, and accesses its directory as an administrator does. All
hosts use this module.
"""

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
    Enterprise,
    MemoryDirectory,
    Queue,
    QueueManager,
    Site,
    build_equality_filter,
)
from reference_qm.directory.properties import find_distribution_list, find_object_sid
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import CoordinatorChanged, DomainReported, Input, QueueManagerStopped, ResourcesChanged
from reference_qm.value_object import value_object


@value_object
class ChangeEnvironment:
    """Make parts of the environment unavailable (false) or available (true). Result: the current value of each
    part.

    The parts are: ``directory``: the directory is reachable. ``domain``: the machine belongs to a domain.
    ``own_domain``: the machine belongs to its own domain, not to a foreign domain that does not know the machine.
    ``registration``: the directory contains this queue manager's own object, not an object of another queue
    manager. ``coordinator``: the Transaction Coordinator is reachable. ``storage``: the disk has room. ``store``:
    the stored data can be read, and ``configuration``: the stored configuration of queues is consistent; a queue
    manager reads both when it starts. ``service``: the queue manager runs. ``clock``: the number of seconds by
    which the clock of the machine is fast; the number is negative if the clock is slow.
    """

    directory: bool | None = None
    domain: bool | None = None
    own_domain: bool | None = None
    registration: bool | None = None
    coordinator: bool | None = None
    storage: bool | None = None
    store: bool | None = None
    configuration: bool | None = None
    service: bool | None = None
    clock: int | None = None


@value_object
class AccessPublishedObject:
    """Read an object of the directory, or change it as an administrator does.

    ``queue``: a public queue of this queue manager. ``find_distribution_list``: the name of a list, whose ``members``
    are identifiers of queues and lists. ``site`` and ``queue_manager``: identifiers. Without any of these keys, the
    command concerns the object of the queue manager itself. ``present``: create a missing queue or list (true) or
    delete it (false) without the help of the queue manager. An attribute whose value is None stays unchanged.
    Result: published, which has the attributes of the object, or None for a missing object.
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
    public_encryption_keys_base64: bytes | None = None


EnvironmentRequest: TypeAlias = ChangeEnvironment | AccessPublishedObject
"""The requests that a host carries out itself."""

NULL_GUID = UUID(int=0)
OWN_DOMAIN_ID, FOREIGN_DOMAIN_ID = (
    UUID("6d71636f-6e66-4f72-8d00-0000000000f1"),
    UUID("6d71636f-6e66-4f72-8d00-0000000000f2"),
)
"""The identifiers of domains that the local security authority can report."""
DOMAIN_ENTRY_NAME = "directory_identifier"
"""The name of the store entry that is missing in a backup that was made in a different domain."""
DAMAGED_ENTRY_NAME = "damage:1"
"""The name of a store entry that simulates damaged data. No queue manager writes an entry with this name."""
QUEUE_NUMBER_ENTRY_NAME = "last_private_queue_number"
"""The name of the store entry that contains the last private queue number. To make the stored configuration
inconsistent, this number is set lower than the number of an existing queue.
"""
DISK_FULL_REASON = "no space is left on the device"
CLOCK_PART_NAME = "clock"
"""The part of the environment whose value is a number instead of true or false."""
CLOCK_LIMIT_S = 10 * 366 * 24 * 3_600
"""The maximum deviation of the clock in s. It is limited because the times in packets have 32 bits."""
DIRECTORY_PART_NAMES = frozenset({"directory", "domain", "own_domain", "registration"})
"""The parts of the environment that do not exist for a queue manager in workgroup mode."""
NO_DIRECTORY_REFUSAL = "this queue manager is in workgroup mode and has no directory"
_ATTRIBUTE_BY_SETTING_OF_TYPE: Mapping[type[DirectoryObject], Mapping[str, str]] = MappingProxyType(
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
            "sites": "SiteIdentifierList",
            "routing_server": "RoutingServer",
        },
        Site: {
            "identifier": "Identifier",
            "name": "Name",
            "intra_site_replication_interval_s": "IntraSiteReplicationInterval",
        },
        DistributionList: {"identifier": "Identifier", "name": "Name", "members": "Members"},
    }
)
"""The attributes of directory objects that ``published`` returns, by their names in the control protocol."""
CHANGEABLE_ATTRIBUTES = (
    "intra_site_replication_interval_s",
    "label",
    "members",
    "public_encryption_keys_base64",
    "quota_kb",
)
"""The attributes of directory objects that ``published`` may change."""


class QueueManagerEnvironment:
    """The environment of a queue manager, and the availability of its parts.

    ``directory``: the directory, or None in workgroup mode. ``available``: whether each part is available, by the
    names of ChangeEnvironment. ``clock_offset_s``: the number of seconds by which the clock is fast.
    """

    def __init__(self, directory: MemoryDirectory | None = None, identifier: UUID = NULL_GUID) -> None:
        self.directory = directory
        self._identifier, self._different_identifier = identifier, UUID(int=identifier.int ^ 1)
        parts = (one.name for one in fields(ChangeEnvironment) if one.name != CLOCK_PART_NAME)
        self.clock_offset_s = 0
        self._outdated_queue_number = 0
        """The last private queue number to store when the configuration is damaged the next time. The number alternates
        between 0 and 1.
        """
        self._foreign_directory: MemoryDirectory | None = None
        """The directory of the other domain, while the machine belongs to it."""
        self.available = {name: True for name in parts if name not in DIRECTORY_PART_NAMES or directory is not None}

    @property
    def reported_domain(self) -> UUID | None:
        """The domain that the machine belongs to."""
        if not self.available.get("domain", False):
            return None
        return OWN_DOMAIN_ID if self._foreign_directory is None else FOREIGN_DOMAIN_ID

    @property
    def reachable_directory(self) -> MemoryDirectory | None:
        """The directory of the domain, or None if it is unavailable."""
        return (self._foreign_directory or self.directory) if self.available.get("directory", False) else None

    @property
    def directory_in_use(self) -> MemoryDirectory | None:
        """The directory that the queue manager reads, or None if the machine belongs to no domain or the directory
        is unavailable.
        """
        return self.reachable_directory if self.available.get("domain", False) else None

    def list_start_inputs(self) -> list[Input]:
        """Return the inputs that report the unavailable parts to a starting queue manager."""
        everything = dict.fromkeys(self.available, True)
        told = [DomainReported(self.reported_domain)] if self.directory is not None else []
        return [
            *told,
            *(one for one in self.list_change_inputs(everything) if not isinstance(one, QueueManagerStopped)),
        ]

    def list_changed_entries(self, before: Mapping[str, bool]) -> dict[str, object]:
        """Return the store entries that must be changed to simulate the changed parts of the environment."""
        entries: dict[str, object] = {}
        if before["store"] != self.available["store"]:
            entries[DAMAGED_ENTRY_NAME] = None if self.available["store"] else "damaged"
        if before["configuration"] and not self.available["configuration"]:
            entries[QUEUE_NUMBER_ENTRY_NAME] = self._outdated_queue_number
            self._outdated_queue_number ^= 1
        if self.available.get("own_domain", True) and not before.get("own_domain", True):
            entries[DOMAIN_ENTRY_NAME] = None
        return entries

    def list_change_inputs(self, before: Mapping[str, bool]) -> list[Input]:
        """Return the inputs that report the changed parts to the queue manager.

        No input reports a changed directory, because the queue manager detects the change itself.
        """
        changed = {name: value for name, value in self.available.items() if before.get(name) != value}
        events: list[Input] = []
        if "coordinator" in changed:
            events.append(CoordinatorChanged(changed["coordinator"]))
        if "storage" in changed:
            events.append(ResourcesChanged(low=not changed["storage"]))
        if changed.get("service") is False:
            events.append(QueueManagerStopped())
        return events

    def carry_out(self, request: EnvironmentRequest) -> dict[str, Any] | str:
        """Carry out a request that concerns the environment. Return a reason if the request is refused."""
        if isinstance(request, ChangeEnvironment):
            return self._apply_request(request)
        directory = self._foreign_directory or self.directory
        return (
            NO_DIRECTORY_REFUSAL if directory is None else self._answer_access_to_published_object(directory, request)
        )

    def _apply_request(self, request: ChangeEnvironment) -> dict[str, Any] | str:
        clock_offset_s = self.clock_offset_s if request.clock is None else request.clock
        if abs(clock_offset_s) > CLOCK_LIMIT_S:
            return f"clock: {clock_offset_s} s exceeds the maximum offset of {CLOCK_LIMIT_S} s"
        asked = {one.name: getattr(request, one.name) for one in fields(request) if one.name != CLOCK_PART_NAME}
        wanted = {name: value for name, value in asked.items() if value is not None}
        if self.directory is not None:
            refused = self._change_membership(self.directory, wanted)
        else:
            refused = None if DIRECTORY_PART_NAMES.isdisjoint(wanted) else NO_DIRECTORY_REFUSAL
        if refused is not None:
            return refused
        self.available |= wanted
        self.clock_offset_s = clock_offset_s
        return {**self.available, CLOCK_PART_NAME: clock_offset_s}

    def apply_clock_offset(self, right: Now) -> Now:
        """Return the time that the machine's fast or slow clock shows when the right time is ``right``. The monotonic
        time is the same on both clocks.
        """
        return Now(right.monotonic_ms, right.utc_s + self.clock_offset_s) if self.clock_offset_s else right

    def _change_membership(self, home: MemoryDirectory, wanted: Mapping[str, bool]) -> str | None:
        """Make the machine a member of a domain, and set the identifier of the machine's object in the directory of the
        domain. If the directory refuses this, return the reason.
        """
        self._set_membership(home, own=wanted.get("own_domain", self._foreign_directory is None))
        registration = wanted.get("registration", self.available["registration"])
        if registration is self.available["registration"]:
            return None
        return self._register_machine(self._foreign_directory or home, registration)

    def _register_machine(self, directory: MemoryDirectory, own: bool) -> str | None:
        """Set the identifier of the machine's directory object to the identifier of this queue manager, or to a
        different identifier. If the directory refuses this, return the reason.
        """
        wanted = self._identifier if own else self._different_identifier
        found = self._find_machine_object(directory)
        machine = found or (None if self._foreign_directory is None else self._find_machine_object(self.directory))
        if machine is None:
            return "registration: the directory has no object of this machine"
        if machine.Identifier == wanted and found is not None:
            return None
        if found is not None and directory.delete(found) is not DirectoryOperationResult.SUCCESS:
            return "registration: the object of this machine cannot be replaced: delete its public queues first"
        directory.provision(replace(machine, Identifier=wanted))
        return None

    def _set_membership(self, home: MemoryDirectory, *, own: bool) -> None:
        """Make the machine a member of its own domain or of a foreign domain. The directory of a foreign domain
        contains copies of the sites of the enterprise.
        """
        if own or self._foreign_directory is not None:
            self._foreign_directory = None if own else self._foreign_directory
            return
        self._foreign_directory = home.create_empty_directory()
        for element in home.contents()[1] or ():
            if isinstance(element, Enterprise | Site):
                self._foreign_directory.provision(element)

    def _find_machine_object(self, directory: MemoryDirectory | None) -> QueueManager | None:
        """Find the object of this machine in a directory. The object has the name that the machine has in its own
        domain.
        """
        if directory is None or self.directory is None:
            return None
        for identifier in (self._identifier, self._different_identifier):
            own = self.directory.read("QueueManager", build_equality_filter("Identifier", identifier)).rDirectoryObject
            if isinstance(own, QueueManager):
                found = directory.read(
                    "QueueManager", build_equality_filter("ComputerName", own.ComputerName)
                ).rDirectoryObject
                return found if isinstance(found, QueueManager) else None
        return None

    def _answer_access_to_published_object(
        self, directory: MemoryDirectory, request: AccessPublishedObject
    ) -> dict[str, Any] | str:
        if (request.queue or request.distribution_list) is not None and request.present is not None:
            self._create_or_delete_object(directory, request, present=request.present)
        found = self._find_published_object(directory, request)
        if found is None:
            return {"published": None}
        names = _ATTRIBUTE_BY_SETTING_OF_TYPE[type(found)]
        changes = {name: value for name in CHANGEABLE_ATTRIBUTES if (value := getattr(request, name)) is not None}
        if unknown := changes.keys() - names.keys():
            wrong = min(unknown)
            return (
                f"published: the object that the request names has no attribute {wrong}: name an object of another type"
            )
        if changes:
            found = replace(found, **{names[name]: value for name, value in changes.items()})
            status = directory.write(found, tuple(names[name] for name in changes))
            if status is not DirectoryOperationResult.SUCCESS:
                return f"published: the directory refuses the change: {status.value}"
        shown = {name: _convert_to_json_value(getattr(found, attribute)) for name, attribute in names.items()}
        if isinstance(found, QueueManager):
            shown["computer_sid_base64"] = _convert_to_json_value(find_object_sid(directory, found.ComputerName))
        return {"published": shown}

    def _create_or_delete_object(
        self, directory: MemoryDirectory, request: AccessPublishedObject, *, present: bool
    ) -> None:
        """Create or delete the directory object of a public queue or a distribution list. The caller then reads this
        object.
        """
        machine, found = (
            self._find_published_object(directory, AccessPublishedObject()),
            self._find_published_object(directory, request),
        )
        if present and found is None and request.distribution_list is not None:
            directory.create(DistributionList(Name=request.distribution_list))
        elif present and found is None and isinstance(machine, QueueManager):
            directory.create(Queue(Pathname=f"{machine.ComputerName}\\{request.queue}"))
        elif not present and found is not None:
            directory.delete(found)

    def _find_published_object(
        self, directory: MemoryDirectory, request: AccessPublishedObject
    ) -> DirectoryObject | None:
        if request.site is not None:
            return directory.read("Site", build_equality_filter("Identifier", request.site)).rDirectoryObject
        if request.distribution_list is not None:
            return find_distribution_list(directory, request.distribution_list)
        if self._foreign_directory is not None and request.queue_manager is None:
            machine: DirectoryObject | None = self._find_machine_object(directory)
        else:
            identifier = request.queue_manager or self._identifier
            machine = directory.read("QueueManager", build_equality_filter("Identifier", identifier)).rDirectoryObject
        if request.queue is None or not isinstance(machine, QueueManager):
            return machine
        path = f"{machine.ComputerName}\\{request.queue}"
        return directory.read("Queue", build_equality_filter("Pathname", path)).rDirectoryObject


def _convert_to_json_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_convert_to_json_value(one) for one in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, UUID) else value
