"""Read the TOML file that describes a topology. The file states which system is the sender, the router and the
receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

from harness.errors import UsageError
from harness.sut.sut_file import SutFile, SutTable, is_loopback, load_sut_file, read_toml_file

SENDER_ROLE, ROUTER_ROLE, RECEIVER_ROLE = ROLES = ("sender", "router", "receiver")
GUID_OF_QUEUE_MANAGER_NEAR_SENDER = UUID("6d71636f-6e66-4f72-8d00-000000000005")
"""A queue manager in the directory that has no machine. It belongs to the site of the sender, whose out-routing server
is the router.
"""
_SYSTEM_KEYS = ("sut", "address")


@dataclass(frozen=True, slots=True)
class PlaceOfSystem:
    """One system in a topology file.

    ``address``: the address at which the other systems reach it. This is the address of the tester's relay; the
    system itself listens at ``file.driver.address``.
    """

    role: str
    file: SutFile
    address: str


@dataclass(frozen=True, slots=True)
class TopologyFile:
    """The content of a topology file, with one system for each of ROLES."""

    name: str
    places: Mapping[str, PlaceOfSystem]
    path: Path

    def build_sut_file(self) -> SutFile:
        """Build the SUT file for a run on the topology. The file contains the topology's name and the receiver's
        tables.
        """
        files = [place.file for place in self.places.values()]
        version = ", ".join(
            f"{role} {place.file.sut.name} {place.file.sut.version}" for role, place in self.places.items()
        )
        systems = MappingProxyType({role: place.file.sut for role, place in self.places.items()})
        vendors = ", ".join(dict.fromkeys(file.sut.vendor for file in files))
        return replace(
            self.places[RECEIVER_ROLE].file, sut=SutTable(self.name, vendors, version), path=self.path, systems=systems
        )


def load_topology(path: Path) -> TopologyFile:
    """Read and check a topology file and the SUT files that it names; raise UsageError, whose message names the
    place and the remedy, if a file is invalid.
    """
    tree = read_toml_file(path, "topology file")
    for table in tree:
        if table not in ("topology", *ROLES):
            raise UsageError(f"{path}: unknown table [{table}]; known: topology, {', '.join(ROLES)}")
    name = _read_table(tree, "topology", ("name",), path)["name"]
    places = {role: _read_place_of_system(role, _read_table(tree, role, _SYSTEM_KEYS, path), path) for role in ROLES}
    _refuse_repeated_places(places, path)
    _refuse_relay_loops(places, path)
    ports = {place.file.driver.peer_tcp_port for place in places.values()}
    if len(ports) > 1:
        said = ", ".join(str(port) for port in sorted(ports))
        raise UsageError(f"{path}: driver.peer_tcp_port is {said}; it must be the same for all systems")
    return TopologyFile(name, MappingProxyType(places), path)


def _read_table(tree: dict[str, Any], name: str, keys: tuple[str, ...], path: Path) -> dict[str, str]:
    table = tree.get(name)
    if not isinstance(table, dict):
        raise UsageError(f"{path}: table [{name}] is missing; a topology has a name, a sender, a router and a receiver")
    for key in table:
        if key not in keys:
            raise UsageError(f"{path}: unknown key {name}.{key}; known: {', '.join(keys)}")
    for key in keys:
        if not isinstance(table.get(key), str) or not table[key]:
            raise UsageError(f"{path}: {name}.{key} is missing or is not a string")
    return table


def _read_place_of_system(role: str, table: dict[str, str], path: Path) -> PlaceOfSystem:
    where = path.parent / table["sut"]
    file = load_sut_file(where)
    address = table["address"]
    if file.driver.kind == "virtual":
        raise UsageError(
            f'{where}: driver.kind is "virtual", but each system of a topology must be a process or external'
        )
    if file.control.kind == "none":
        raise UsageError(f"{where}: [control] is missing; without it, the tester cannot control the {role}")
    if not is_loopback(address) and not file.driver.allow_remote:
        raise UsageError(
            f"{path}: {role}.address {address} is not loopback; set allow_remote = true in [driver] of {where} if the "
            "tester may listen there"
        )
    return PlaceOfSystem(
        role, replace(file, capabilities=MappingProxyType({**file.capabilities, "topology": True})), address
    )


def _refuse_repeated_places(places: Mapping[str, PlaceOfSystem], path: Path) -> None:
    """Raise UsageError if two systems share an address, or are reached at the same address."""
    for what, of in _ADDRESS_GETTER_BY_KEY.items():
        seen: dict[str, str] = {}
        for role, place in places.items():
            other = seen.setdefault(of(place), role)
            if other != role:
                raise UsageError(
                    f"{path}: {what} {of(place)} belongs to both {other} and {role}: give each system its own"
                )


_ADDRESS_GETTER_BY_KEY: dict[str, Callable[[PlaceOfSystem], str]] = {
    "address": lambda place: place.address,
    "driver.address": lambda place: place.file.driver.address,
}


def _refuse_relay_loops(places: Mapping[str, PlaceOfSystem], path: Path) -> None:
    """Raise UsageError if a system listens at the address of a relay, because the relay would connect to itself."""
    found_at = {place.address: role for role, place in places.items()}
    for role, place in places.items():
        own = place.file.driver.address
        if own in found_at:
            raise UsageError(
                f"{path}: the {role} listens at {own}, which is also the address of the {found_at[own]}, so the "
                f"relay there would receive its own traffic; give the {role} a different driver.address"
            )
