"""Computers and distribution lists in a directory. MS-MQDSSM 3.1.6.9, 3.1.6.14."""

from __future__ import annotations

from uuid import UUID

import pytest
from directory_made import QUEUE, SID, SITE_A, made

from reference_qm.directory import Computer, DistributionList, MemoryDirectory, Queue
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.properties import find_distribution_list, find_object_sid, list_distribution_list_members

OUTER, INNER, BROKEN = (UUID(int=0x41 + at) for at in range(3))


@pytest.fixture
def directory() -> MemoryDirectory:
    filled = made()
    filled.provision(Computer(Name="alpha", SecurityIdentifier=SID))
    filled.provision(DistributionList(Identifier=OUTER, Name="outer", Members=(QUEUE, INNER)))
    filled.provision(DistributionList(Identifier=INNER, Name="inner"))
    filled.provision(DistributionList(Identifier=BROKEN, Name="broken", Members=(QUEUE, SITE_A)))
    return filled


def test_computer_has_a_sid_while_the_directory_is_reachable(directory: MemoryDirectory) -> None:
    assert [find_object_sid(directory, name) for name in ("Alpha", "beta", None)] == [SID, None, None]
    directory.connected = False
    assert find_object_sid(directory, "alpha") is None


def test_distribution_list_has_queues_and_lists_as_members(directory: MemoryDirectory) -> None:
    found = list_distribution_list_members(directory, OUTER)
    assert found is not None
    assert [(type(one), one.Identifier) for one in found] == [(Queue, QUEUE), (DistributionList, INNER)]
    assert list_distribution_list_members(directory, INNER) == []


@pytest.mark.parametrize("identifier", [BROKEN, QUEUE, UUID(int=0xFF)])
def test_invalid_member_list_of_distribution_list_is_read_as_none(directory: MemoryDirectory, identifier: UUID) -> None:
    assert list_distribution_list_members(directory, identifier) is None


def test_unavailable_directory_returns_no_distribution_list(directory: MemoryDirectory) -> None:
    directory.connected = False
    assert list_distribution_list_members(directory, OUTER) is None


def test_distribution_list_is_found_by_its_name(directory: MemoryDirectory) -> None:
    found = find_distribution_list(directory, "OUTER")
    assert found is not None
    assert found.Identifier == OUTER
    assert find_distribution_list(directory, "alpha") is None


@pytest.mark.parametrize("kind", ["Computer", "DistributionList"])
def test_directory_events_do_not_read_internal_properties(directory: MemoryDirectory, kind: str) -> None:
    assert directory.read(kind).rStatus is Result.GENERIC_ERROR
