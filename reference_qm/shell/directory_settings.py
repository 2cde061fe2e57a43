"""Reads the table [directory] of the TOML file of ``mqconform serve``, which lists sites, links, queue managers,
public queues and distribution lists.

Entries refer to a site by its name, and to a queue manager by its computer name. If the file contains no identifier
for an object, the identifier is derived from the object's name, so that equal files give equal identifiers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from reference_qm.directory import (
    Computer,
    DirectoryStorageError,
    DistributionList,
    Enterprise,
    MemoryDirectory,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    build_equality_filter,
)
from reference_qm.directory.objects import MAX_LINK_COST, MIN_LINK_COST, DirectoryObject
from reference_qm.shell import system
from reference_qm.shell import toml_values as toml
from reference_qm.shell.directory_store import DirectoryFileError, SqliteDirectory
from reference_qm.shell.toml_values import ConverterByKey, SettingsError, TomlValues
from reference_qm.surface.entropy import Entropy, generate_guid

_UUID_NAMESPACE = UUID("6d71636f-6e66-4f72-8d00-64697265637f")
"""The UUID name space from which identifiers are derived."""
ENTERPRISE = "enterprise"
"""The name of the enterprise in every directory."""


def load_directory(tree: object, where: str, identifier: UUID | None, entropy: Entropy) -> MemoryDirectory | None:
    """Build the directory that a table [directory] describes, or return None, for workgroup mode, if the table is
    missing.

    ``identifier``: the identifier of this process's queue manager, which must be in the directory. ``store``: a
    directory file, which other queue managers may share. The objects of the table are added to the file; the
    existing objects of the file stay unchanged.
    """
    if tree is None:
        return None
    where = f"{where}: [directory]"
    values = toml.convert_table(tree, _DIRECTORY_TABLE_CONVERTERS, where)
    elements = _build_elements(values, where)
    directory = _open_directory(values.get("store"), where, entropy)
    for number, (place, element) in enumerate(elements):
        if any(element.Identifier == other.Identifier for _, other in elements[:number]):
            raise SettingsError(f"{place}: another object has this name or identifier: change or remove one of them")
        _provision_element(directory, element, place)
    if identifier is None:
        raise SettingsError(
            f"{where}: [queue_manager] identifier is missing: give the identifier of one of the queue managers"
        )
    if directory.read("QueueManager", build_equality_filter("Identifier", identifier)).rDirectoryObject is None:
        raise SettingsError(f"{where}: this process's queue manager {identifier} is missing: add it to queue_managers")
    return directory


def _open_directory(store: Path | None, where: str, entropy: Entropy) -> MemoryDirectory:
    new_identifier = partial(generate_guid, entropy)
    if store is None:
        return MemoryDirectory(new_identifier, _read_current_utc_s)
    try:
        return SqliteDirectory(store, new_identifier, _read_current_utc_s)
    except DirectoryFileError as error:
        raise SettingsError(f"{where} store: {error}") from error


def _read_current_utc_s() -> int:
    return system.read_clocks().utc_s


def _provision_element(directory: MemoryDirectory, element: DirectoryObject, place: str) -> None:
    if any(one.Identifier == element.Identifier for one in directory.contents()[1] or ()):
        return
    try:
        directory.provision(element)
    except (ValueError, DirectoryStorageError) as error:
        raise SettingsError(f"{place}: {error}") from error


def _build_elements(values: TomlValues, where: str) -> list[tuple[str, DirectoryObject]]:
    """Build the directory elements of all entries, each with the place of its entry in the TOML file."""
    entries = {
        kind: _read_entries(values.get(kind, []), kind, where) for kind in _CONVERTERS_AND_REQUIRED_KEYS_BY_ENTRY_TABLE
    }
    sites = {one["name"].lower(): _get_identifier(one, "site", one["name"]) for _, one in entries["sites"]}
    machines = {one["computer_name"].lower(): one["identifier"] for _, one in entries["queue_managers"]}
    named = {one["pathname"].lower(): _get_identifier(one, "queue", one["pathname"]) for _, one in entries["queues"]}
    named |= {
        one["name"].lower(): _get_identifier(one, "list", one["name"]) for _, one in entries["distribution_lists"]
    }
    return [
        (where, Enterprise(Identifier=_get_identifier({}, "enterprise", ENTERPRISE), Name=ENTERPRISE)),
        *((place, Site(Identifier=sites[one["name"].lower()], Name=one["name"])) for place, one in entries["sites"]),
        *(
            (place, _build_queue_manager_object(one, sites, machines, place))
            for place, one in entries["queue_managers"]
        ),
        *((place, _build_routing_link_object(one, sites, machines, place)) for place, one in entries["links"]),
        *((place, _build_computer_object(one)) for place, one in entries["queue_managers"] if "computer_sid" in one),
        *((place, _build_queue(one, machines, place)) for place, one in entries["queues"]),
        *((place, _build_distribution_list_object(one, named, place)) for place, one in entries["distribution_lists"]),
    ]


def _build_queue_manager_object(
    values: TomlValues, sites: IdentifierByName, machines: IdentifierByName, place: str
) -> QueueManager:
    return QueueManager(
        Identifier=values["identifier"],
        ComputerName=values["computer_name"],
        QualifiedComputerName=values.get("qualified_computer_name", values["computer_name"]),
        SiteIdentifierList=_find_identifiers_of_names(sites, values["sites"], f"{place} sites"),
        RoutingServer=values.get("routing_server", False),
        InRoutingServerIdentifierList=_find_identifiers_of_names(
            machines, values.get("in_routing_servers", ()), f"{place} in_routing_servers"
        ),
        OutRoutingServerIdentifierList=_find_identifiers_of_names(
            machines, values.get("out_routing_servers", ()), f"{place} out_routing_servers"
        ),
    )


def _build_routing_link_object(
    values: TomlValues, sites: IdentifierByName, machines: IdentifierByName, place: str
) -> RoutingLink:
    ends = _find_identifiers_of_names(sites, values["sites"], f"{place} sites")
    if len(set(ends)) != 2:
        raise SettingsError(f"{place} sites = {list(values['sites'])}: a link must name exactly two sites")
    return RoutingLink(
        Identifier=_get_identifier(values, "link", f"{ends[0]} {ends[1]}"),
        Site1Identifier=ends[0],
        Site2Identifier=ends[1],
        ActualCost=values.get("cost", MIN_LINK_COST),
        SiteGateIdentifierList=_find_identifiers_of_names(machines, values.get("gates", ()), f"{place} gates"),
    )


def _build_queue(values: TomlValues, machines: IdentifierByName, place: str) -> Queue:
    _find_identifiers_of_names(machines, [values["pathname"].partition("\\")[0]], f"{place} pathname")
    return Queue(
        Identifier=_get_identifier(values, "queue", values["pathname"]),
        Pathname=values["pathname"],
        Label=values.get("label", ""),
        Transactional=values.get("transactional", False),
        BasePriority=values.get("base_priority", 0),
    )


def _build_computer_object(values: TomlValues) -> Computer:
    name = values["computer_name"]
    return Computer(
        Identifier=_get_identifier({}, "computer", name), Name=name, SecurityIdentifier=values["computer_sid"].build()
    )


def _build_distribution_list_object(values: TomlValues, named: IdentifierByName, place: str) -> DistributionList:
    return DistributionList(
        Identifier=_get_identifier(values, "list", values["name"]),
        Name=values["name"],
        Members=_find_identifiers_of_names(named, values.get("members", ()), f"{place} members"),
    )


def _read_entries(entries: Sequence[object], kind: str, where: str) -> list[tuple[str, TomlValues]]:
    known, required = _CONVERTERS_AND_REQUIRED_KEYS_BY_ENTRY_TABLE[kind]
    read = []
    for number, entry in enumerate(entries, 1):
        place = f"{where} {kind} {number}"
        values = toml.convert_table(entry, known, place)
        for name in required:
            if name not in values:
                raise SettingsError(f"{place}: {name} is missing")
        read.append((place, values))
    return read


def _find_identifiers_of_names(known: IdentifierByName, names: Sequence[str], where: str) -> tuple[UUID, ...]:
    for name in names:
        if name.lower() not in known:
            raise SettingsError(f"{where}: this file does not define {name!r}; it defines {', '.join(known) or 'none'}")
    return tuple(known[name.lower()] for name in names)


def _get_identifier(values: TomlValues, kind: str, name: str) -> UUID:
    given: UUID | None = values.get("identifier")
    return given or uuid5(_UUID_NAMESPACE, f"{kind} {name.lower()}")


# -- the keys of entries ---------------------------------------------------------------------------------------------


def _require_tables(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("must be a list of tables: write [[directory.sites]] and so on")
    return value


def _require_strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of names")
    return tuple(toml.require_string(one) for one in value)


def _require_pathname(value: object) -> str:
    name = toml.require_string(value)
    computer, separator, queue = name.partition("\\")
    if not (computer and separator and queue) or "\\" in queue:
        raise ValueError("must be a path name of a public queue like 'computer\\orders'")
    return name


IdentifierByName = Mapping[str, UUID]
_IDENTIFIER_CONVERTERS: ConverterByKey = {"identifier": toml.convert_guid}
_CONVERTERS_AND_REQUIRED_KEYS_BY_ENTRY_TABLE: Mapping[str, tuple[ConverterByKey, tuple[str, ...]]] = MappingProxyType(
    {
        "sites": ({**_IDENTIFIER_CONVERTERS, "name": toml.require_string}, ("name",)),
        "queue_managers": (
            {
                **_IDENTIFIER_CONVERTERS,
                "computer_name": toml.require_string,
                "qualified_computer_name": toml.require_string,
                "sites": _require_strings,
                "routing_server": toml.require_boolean,
                "in_routing_servers": _require_strings,
                "out_routing_servers": _require_strings,
                "computer_sid": toml.convert_sid,
            },
            ("identifier", "computer_name", "sites"),
        ),
        "links": (
            {
                **_IDENTIFIER_CONVERTERS,
                "sites": _require_strings,
                "cost": toml.make_integer_converter(MIN_LINK_COST, MAX_LINK_COST),
                "gates": _require_strings,
            },
            ("sites",),
        ),
        "queues": (
            {
                **_IDENTIFIER_CONVERTERS,
                "pathname": _require_pathname,
                "label": toml.require_string,
                "transactional": toml.require_boolean,
                "base_priority": toml.make_integer_converter(-0x8000, 0x7FFF),
            },
            ("pathname",),
        ),
        "distribution_lists": (
            {**_IDENTIFIER_CONVERTERS, "name": toml.require_string, "members": _require_strings},
            ("name",),
        ),
    }
)
"""The known keys and the required keys of the entries of each kind."""
_DIRECTORY_TABLE_CONVERTERS: ConverterByKey = {
    "store": lambda value: Path(toml.require_string(value)),
    **dict.fromkeys(_CONVERTERS_AND_REQUIRED_KEYS_BY_ENTRY_TABLE, _require_tables),
}
