"""The table [directory] in the TOML file of ``serve``."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from reference_qm.directory import (
    DistributionList,
    Enterprise,
    MemoryDirectory,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    build_equality_filter,
)
from reference_qm.directory.properties import find_distribution_list, find_object_sid, list_distribution_list_members
from reference_qm.security import Sid
from reference_qm.shell.directory_store import SqliteDirectory
from reference_qm.shell.settings import SettingsError, load_settings
from reference_qm.surface.entropy import SeededEntropy

ENTROPY = SeededEntropy("directory settings")
A, B, C = (f"6d71636f-6e66-4f72-8d00-00000000000{number}" for number in "abc")
OWN = f"[queue_manager]\nidentifier = '{A}'\n"
SITES = "[[directory.sites]]\nname = 'north'\n[[directory.sites]]\nname = 'south'\n"
MACHINES = f"""
[[directory.queue_managers]]
identifier = "{A}"
computer_name = "alpha"
qualified_computer_name = "127.0.0.1"
sites = ["north"]
out_routing_servers = ["Gate"]
[[directory.queue_managers]]
identifier = "{B}"
computer_name = "gate"
sites = ["north", "South"]
routing_server = true
[[directory.queue_managers]]
identifier = "{C}"
computer_name = "gamma"
sites = ["south"]
in_routing_servers = ["gate"]
"""
REST = """
[[directory.links]]
sites = ["north", "south"]
cost = 7
gates = ["gate"]
[[directory.queues]]
pathname = "gamma\\\\orders"
label = "orders"
base_priority = 3
"""
LISTS = """
[[directory.distribution_lists]]
name = "outer"
members = ["Gamma\\\\orders", "inner"]
[[directory.distribution_lists]]
name = "inner"
"""


def load(folder: Path, text: str) -> MemoryDirectory | None:
    path = folder / "qm.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {}, ENTROPY).directory


def machine(directory: MemoryDirectory, identifier: str) -> QueueManager:
    found = directory.read("QueueManager", build_equality_filter("Identifier", UUID(identifier))).rDirectoryObject
    assert isinstance(found, QueueManager)
    return found


def test_missing_directory_table_means_workgroup_mode(tmp_path: Path):
    assert load(tmp_path, OWN) is None


def test_configured_directory_contains_an_enterprise_object(tmp_path: Path):
    directory = load(tmp_path, OWN + SITES + MACHINES)
    assert directory is not None
    assert isinstance(directory.read("Enterprise").rDirectoryObject, Enterprise)


def test_every_key_of_directory_table_is_read(tmp_path: Path):
    directory = load(tmp_path, OWN + SITES + MACHINES + REST)
    assert directory is not None
    sites = {
        name: directory.read("Site", build_equality_filter("Name", name)).rDirectoryObject
        for name in ("north", "south")
    }
    north, south = (site.Identifier for site in sites.values() if isinstance(site, Site))
    assert machine(directory, A).QualifiedComputerName == "127.0.0.1"
    assert machine(directory, A).SiteIdentifierList == (north,)
    assert machine(directory, A).OutRoutingServerIdentifierList == (UUID(B),)
    assert (machine(directory, B).RoutingServer, machine(directory, B).QualifiedComputerName) == (True, "gate")
    assert machine(directory, B).SiteIdentifierList == (north, south)
    assert machine(directory, C).InRoutingServerIdentifierList == (UUID(B),)
    link = directory.read("RoutingLink").rDirectoryObject
    assert isinstance(link, RoutingLink)
    assert (link.Site1Identifier, link.Site2Identifier, link.ActualCost) == (north, south, 7)
    assert link.SiteGateIdentifierList == (UUID(B),)
    queue = directory.read("Queue").rDirectoryObject
    assert isinstance(queue, Queue)
    assert (queue.Pathname, queue.Label, queue.BasePriority, queue.Transactional) == (
        "gamma\\orders",
        "orders",
        3,
        False,
    )


def test_configured_computers_and_distribution_lists_are_stored_once(tmp_path: Path):
    machines = MACHINES.replace('computer_name = "alpha"', 'computer_name = "alpha"\ncomputer_sid = "S-1-5-7"')
    text = f"{OWN}[directory]\nstore = '{tmp_path / 'enterprise'}'\n{SITES}{machines}{REST}{LISTS}"
    for _ in range(2):
        directory = load(tmp_path, text)
        assert directory is not None
        assert find_object_sid(directory, "alpha") == Sid.of("S-1-5-7").build()
        assert find_object_sid(directory, "gamma") is None
        outer = find_distribution_list(directory, "outer")
        assert outer is not None
        assert outer.Identifier is not None
        assert [type(one) for one in list_distribution_list_members(directory, outer.Identifier) or ()] == [
            Queue,
            DistributionList,
        ]
        directory.close()


def test_configured_public_queue_without_directory_is_refused(tmp_path: Path):
    queues = "queues = [{ name = 'orders' }]\n"
    assert load(tmp_path, queues + OWN + SITES + MACHINES) is not None
    with pytest.raises(
        SettingsError, match=r"\[\[queues\]\] name = 'orders': a public queue needs the table \[directory\]"
    ):
        load(tmp_path, queues)


def test_equal_directory_files_give_equal_identifiers(tmp_path: Path):
    one, two = (load(tmp_path, OWN + SITES + MACHINES + REST) for _ in range(2))
    for kind in ("Site", "RoutingLink", "Queue"):
        found = {directory.read(kind).rDirectoryObject.Identifier for directory in (one, two)}  # type: ignore[union-attr]
        assert len(found) == 1


def test_configured_directory_store_keeps_its_existing_objects(tmp_path: Path):
    store = f"[directory]\nstore = '{tmp_path / 'enterprise'}'\n"
    first = load(tmp_path, OWN + store + SITES + MACHINES)
    assert isinstance(first, SqliteDirectory)
    first.write(QueueManager(Identifier=UUID(A), JournalQuota=5))
    first.close()
    again = load(tmp_path, OWN + store + SITES + MACHINES)
    assert isinstance(again, SqliteDirectory)
    assert machine(again, A).JournalQuota == 5
    again.close()
    alone = load(tmp_path, OWN + store)
    assert isinstance(alone, SqliteDirectory)
    assert machine(alone, C).ComputerName == "gamma"
    alone.close()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (SITES, "[directory]: [queue_manager] identifier is missing: give the identifier of one of the queue managers"),
        (OWN + SITES, f"[directory]: this process's queue manager {A} is missing: add it to queue_managers"),
        (OWN + SITES + MACHINES + "[routes]\n", "[routes] is only for a workgroup: remove it, or remove [directory]"),
        (
            OWN + SITES + MACHINES + "[public_queues]\n",
            "[public_queues] is only for a workgroup: remove it",
        ),
        (OWN + "[directory]\nsite = 1", "[directory]: unknown key 'site'; known: store, sites, queue_managers"),
        (OWN + "[directory]\nsites = 1", "sites = 1: must be a list of tables: write [[directory.sites]] and so on"),
        (OWN + "[[directory.sites]]\n", "[directory] sites 1: name is missing"),
        (OWN + "[[directory.sites]]\nname = 1", "[directory] sites 1 name = 1: must be a string"),
        (OWN + MACHINES, "queue_managers 1 sites: this file does not define 'north'; it defines none"),
        (
            OWN + SITES + MACHINES.replace('"Gate"', '"gone"'),
            "out_routing_servers: this file does not define 'gone'; it defines alpha",
        ),
        (
            OWN + SITES + MACHINES + "[[directory.links]]\nsites = ['north']",
            "sites = ['north']: a link must name exactly two sites",
        ),
        (
            OWN + SITES + MACHINES + "[[directory.links]]\nsites = ['north', 'south']\ncost = 0",
            "links 1 cost = 0: must be an integer from 1 to 999999",
        ),
        (
            OWN + "[[directory.queues]]\npathname = 'orders'",
            "must be a path name of a public queue like 'computer\\orders'",
        ),
        (OWN + "[[directory.queues]]\npathname = 'a\\\\private$\\\\b'", "must be a path name of a public queue"),
        (OWN + "[[directory.queues]]\npathname = 'a\\b'", "queues 1 pathname: this file does not define 'a'"),
        (
            OWN + SITES + MACHINES + REST + LISTS.replace('"inner"]', '"gone"]'),
            "lists 1 members: this file does not define 'gone'",
        ),
        (OWN + MACHINES.replace("sites", "computer_sid = 'S-1'\nsites", 1), "computer_sid = 'S-1': must be a SID like"),
        (OWN + "[directory]\nstore = '/nowhere/at/all'", "/nowhere/at/all cannot be opened as a directory"),
        (OWN + SITES + SITES, "[directory] sites 3: another object has this name or identifier"),
        (OWN + SITES + MACHINES.replace(C, B), "queue_managers 3: another object has this name or identifier"),
        (OWN + SITES + MACHINES.replace("gamma", "alpha"), "queue_managers 3: CN=msmq, CN=alpha"),
    ],
)
def test_unusable_directory_setting_gives_one_line_error(tmp_path: Path, text: str, complaint: str):
    with pytest.raises(SettingsError) as error:
        load(tmp_path, text)
    assert complaint in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "qm.toml"))
    assert "\n" not in str(error.value)
