"""The changes that a program beside the queue manager makes in its directory, and the objects that it reads there."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from reference_qm.directory import Computer, DirectoryStorageError, MemoryDirectory, Queue, QueueManager, Site
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import SeededEntropy, generate_guid
from reference_qm.surface.inputs import CoordinatorChanged, DomainReported, QueueManagerStopped, ResourcesChanged
from reference_qm.surface.queue_manager_environment import (
    CLOCK_LIMIT_S,
    FOREIGN_DOMAIN_ID,
    NO_DIRECTORY_REFUSAL,
    OWN_DOMAIN_ID,
    AccessPublishedObject,
    ChangeEnvironment,
    QueueManagerEnvironment,
)

OWN = UUID(int=7)
NO_SUCH_ATTRIBUTE = (
    "published: the object that the request names has no attribute label: name an object of another type"
)
OF_ONE = dict.fromkeys(("directory", "domain", "own_domain", "registration"), True)
ALL = dict.fromkeys(("coordinator", "storage", "store", "configuration", "service"), True) | {"clock": 0}


@pytest.fixture
def directory() -> MemoryDirectory:
    made = MemoryDirectory(partial(generate_guid, SeededEntropy("surroundings")), lambda: 0)
    made.provision(QueueManager(Identifier=OWN, ComputerName="one", PublicSigningKeyList=b"key"))
    made.provision(Queue(Pathname="one\\orders", Label="of today", Quota=5))
    return made


def test_unavailable_directory_is_unreachable_until_available_again(directory):
    around = QueueManagerEnvironment(directory, OWN)
    assert around.reachable_directory is directory
    assert around.carry_out(ChangeEnvironment(directory=False)) == ALL | OF_ONE | {"directory": False}
    assert around.reachable_directory is None
    assert around.carry_out(ChangeEnvironment()) == ALL | OF_ONE | {"directory": False}
    assert around.carry_out(ChangeEnvironment(directory=True)) == ALL | OF_ONE
    assert around.reachable_directory is directory


def test_administrator_can_change_published_objects_of_unreachable_directory(directory):
    around = QueueManagerEnvironment(directory, OWN)
    around.carry_out(ChangeEnvironment(directory=False))
    changed = around.carry_out(AccessPublishedObject(queue="orders", label="of tomorrow"))
    assert isinstance(changed, dict)
    assert (changed["published"]["label"], changed["published"]["quota_kb"]) == ("of tomorrow", 5)
    own = around.carry_out(AccessPublishedObject(quota_kb=9))
    assert isinstance(own, dict)
    assert (own["published"]["quota_kb"], own["published"]["public_signing_keys_base64"]) == (9, "a2V5")
    assert around.carry_out(AccessPublishedObject(queue="nothing")) == {"published": None}


def test_administrator_changes_directory_objects_of_site_and_second_queue_manager(directory):
    site, gate = UUID(int=0x51), UUID(int=0x6A)
    directory.provision(Site(Identifier=site, Name="near"))
    directory.provision(QueueManager(Identifier=gate, ComputerName="gate"))
    around = QueueManagerEnvironment(directory, OWN)
    shown = {"identifier": str(site), "name": "near", "intra_site_replication_interval_s": 3}
    for request in (
        AccessPublishedObject(site=site, intra_site_replication_interval_s=3),
        AccessPublishedObject(site=site),
    ):
        assert around.carry_out(request) == {"published": shown}
    changed = around.carry_out(AccessPublishedObject(queue_manager=gate, quota_kb=7))
    assert isinstance(changed, dict)
    assert changed["published"]["quota_kb"] == 7
    assert around.carry_out(AccessPublishedObject(site=gate)) == {"published": None}


def test_administrator_creates_and_deletes_the_directory_object_of_a_queue(directory):
    around = QueueManagerEnvironment(directory, OWN)
    made = [around.carry_out(AccessPublishedObject(queue="spare", present=True)) for _ in range(2)]
    assert made[0] == made[1]
    assert isinstance(made[0], dict)
    assert UUID(made[0]["published"]["identifier"]).int
    assert around.carry_out(AccessPublishedObject(queue="spare", present=False)) == {"published": None}


def test_administrator_creates_fills_and_deletes_a_distribution_list(directory):
    around = QueueManagerEnvironment(directory, OWN)
    assert around.carry_out(AccessPublishedObject(distribution_list="all")) == {"published": None}
    first = UUID(int=0x81)
    made = around.carry_out(AccessPublishedObject(distribution_list="all", present=True, members=(first,)))
    assert isinstance(made, dict)
    shown = made["published"]
    assert (shown["name"], shown["members"]) == ("all", [str(first)])
    emptied = around.carry_out(AccessPublishedObject(distribution_list="All", members=()))
    assert emptied == {"published": shown | {"members": []}}
    assert around.carry_out(AccessPublishedObject(distribution_list="all", present=False)) == {"published": None}


def test_administrator_reads_the_sid_of_the_computer(directory):
    around = QueueManagerEnvironment(directory, OWN)
    assert around.carry_out(AccessPublishedObject())["published"]["computer_sid_base64"] is None
    directory.provision(Computer(Name="one", SecurityIdentifier=b"\1\1\0\0\0\0\0\5\7\0\0\0"))
    assert around.carry_out(AccessPublishedObject())["published"]["computer_sid_base64"] == "AQEAAAAAAAUHAAAA"


def test_refused_directory_change_gives_one_line_status(directory):
    around = QueueManagerEnvironment(directory, OWN)
    assert around.carry_out(AccessPublishedObject(label="x")) == NO_SUCH_ATTRIBUTE
    refusing = QueueManagerEnvironment(_Refusing(directory), OWN)
    refused = refusing.carry_out(AccessPublishedObject(queue="orders", label="x"))
    assert refused == "published: the directory refuses the change: GenericError"


def test_directory_cannot_be_made_unavailable_in_workgroup_mode():
    around = QueueManagerEnvironment()
    assert around.carry_out(ChangeEnvironment()) == ALL
    assert around.carry_out(ChangeEnvironment(directory=False)) == NO_DIRECTORY_REFUSAL
    assert around.carry_out(AccessPublishedObject()) == NO_DIRECTORY_REFUSAL


def test_core_is_informed_of_unavailable_environment_at_once_and_at_start():
    around = QueueManagerEnvironment()
    before = dict(around.available)
    around.carry_out(ChangeEnvironment(coordinator=False, storage=False, store=False, service=False))
    assert around.list_change_inputs(before) == [
        CoordinatorChanged(available=False),
        ResourcesChanged(low=True),
        QueueManagerStopped(),
    ]
    assert around.list_start_inputs() == [CoordinatorChanged(available=False), ResourcesChanged(low=True)]
    away = dict(around.available)
    around.carry_out(ChangeEnvironment(coordinator=True))
    assert around.list_change_inputs(away) == [CoordinatorChanged(available=True)]


def test_clock_offset_is_applied_and_removed():
    around, right = QueueManagerEnvironment(), Now(5_000, 1_000_000)
    assert around.carry_out(ChangeEnvironment(clock=-3_600)) == ALL | {"clock": -3_600}
    assert around.apply_clock_offset(right) == Now(5_000, 996_400)
    assert around.carry_out(ChangeEnvironment(coordinator=True)) == ALL | {"clock": -3_600}
    assert around.carry_out(ChangeEnvironment(clock=0)) == ALL
    assert around.apply_clock_offset(right) == right
    refused = around.carry_out(ChangeEnvironment(clock=CLOCK_LIMIT_S + 1, storage=False))
    assert refused == f"clock: {CLOCK_LIMIT_S + 1} s exceeds the maximum offset of {CLOCK_LIMIT_S} s"
    assert around.carry_out(ChangeEnvironment()) == ALL


def test_machine_object_can_belong_to_other_queue_manager_and_back():
    directory = MemoryDirectory(partial(generate_guid, SeededEntropy("surroundings")), lambda: 0)
    directory.provision(QueueManager(Identifier=OWN, ComputerName="one"))
    around = QueueManagerEnvironment(directory, OWN)
    around.carry_out(ChangeEnvironment(registration=False))
    assert around.carry_out(AccessPublishedObject()) == {"published": None}
    around.carry_out(ChangeEnvironment(domain=False))
    assert (around.directory_in_use, around.reachable_directory) == (None, directory)
    around.carry_out(ChangeEnvironment(domain=True, registration=True))
    assert around.directory_in_use is directory
    assert around.carry_out(AccessPublishedObject()) != {"published": None}


def test_new_domain_has_the_sites_of_the_old_domain_and_not_the_machine(directory):
    site = UUID(int=0x51)
    directory.provision(Site(Identifier=site, Name="near"))
    around = QueueManagerEnvironment(directory, OWN)
    assert around.list_start_inputs() == [DomainReported(OWN_DOMAIN_ID)]
    before = dict(around.available)
    around.carry_out(ChangeEnvironment(own_domain=False))
    assert around.list_start_inputs() == [DomainReported(FOREIGN_DOMAIN_ID)]
    assert around.list_changed_entries(before) == {}
    assert around.reachable_directory is around.directory_in_use is not directory
    assert around.carry_out(AccessPublishedObject()) == {"published": None}
    assert around.carry_out(AccessPublishedObject(site=site)) != {"published": None}
    away = dict(around.available)
    around.carry_out(ChangeEnvironment(own_domain=True))
    assert around.list_changed_entries(away) == {"directory_identifier": None}
    assert around.reachable_directory is directory


def test_new_domain_can_know_the_machine_by_a_new_or_its_own_identifier(directory):
    around = QueueManagerEnvironment(directory, OWN)
    around.carry_out(ChangeEnvironment(own_domain=False, registration=False))
    identifiers = []
    for own in (False, True):
        shown = around.carry_out(ChangeEnvironment(registration=own)) and around.carry_out(AccessPublishedObject())
        assert isinstance(shown, dict)
        identifiers.append(shown["published"]["identifier"])
    assert identifiers == [str(UUID(int=OWN.int ^ 1)), str(OWN)]
    around.carry_out(ChangeEnvironment(own_domain=True, registration=False))
    assert around.carry_out(ChangeEnvironment(own_domain=True, registration=True))["own_domain"] is True


def test_machine_with_public_queues_cannot_change_registration(directory):
    refused = QueueManagerEnvironment(directory, OWN).carry_out(ChangeEnvironment(registration=False))
    assert refused == "registration: the object of this machine cannot be replaced: delete its public queues first"


class _Refusing(MemoryDirectory):
    """A directory that refuses to store any further object."""

    def __init__(self, other: MemoryDirectory) -> None:
        super().__init__(lambda: UUID(int=1), lambda: 0)
        for element in other.contents()[1] or ():
            super()._store_element(element)
        self._full = True

    def _store_element(self, element):
        if getattr(self, "_full", False):
            raise DirectoryStorageError("full")
        super()._store_element(element)
