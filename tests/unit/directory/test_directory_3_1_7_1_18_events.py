"""The directory events. MS-MQDMPR 3.1.7.1.18 to 3.1.7.1.25."""

from __future__ import annotations

import pytest
from directory_made import ALPHA, BETA, QUEUE, SITE_A, carried_out, made, state_of

from reference_qm.directory import (
    AttributeFilter,
    ComparisonOperator,
    DirectoryObject,
    DirectoryState,
    MemoryDirectory,
    Queue,
    QueueManager,
    Site,
    build_equality_filter,
    events,
)
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.enums import QueueType
from reference_qm.directory.interface import DirectoryDeleteRequest, DirectoryWriteRequest
from reference_qm.directory.state import ChangeNotification, ChangeOperation

PUBLIC = Queue(Pathname="alpha\\new")
PRIVATE = Queue(Pathname="alpha\\private$\\new", QueueType=QueueType.PRIVATE)


def offline() -> tuple[MemoryDirectory, DirectoryState]:
    directory, state = made(), state_of()
    directory.connected = False
    events.read_directory(directory, state, "Site")
    assert state.DirectoryOffline
    return directory, state


def test_mqdmpr_3_1_7_1_18_create_returns_the_guid_of_the_new_object() -> None:
    directory, state = made(), state_of()
    created = carried_out(directory, state, events.create_directory_object(state, PUBLIC))
    assert created.rStatus is Result.SUCCESS
    read = events.read_directory(directory, state, "Queue", build_equality_filter("Identifier", created.rObjectGUID))
    assert isinstance(read.rDirectoryObject, Queue)
    assert read.rDirectoryObject.Pathname == PUBLIC.Pathname


@pytest.mark.parametrize(
    ("element", "count"), [(PUBLIC, 1), (PRIVATE, 0), (Site(Name="C"), 0)], ids=["public", "private", "site"]
)
def test_mqdmpr_3_1_7_1_18_only_creation_of_public_queues_is_notified(element: DirectoryObject, count: int) -> None:
    state = state_of()
    events.create_directory_object(state, element)
    assert list(state.notifications) == [ChangeNotification(ChangeOperation.QUEUE_CREATION, element)] * count


def test_mqdmpr_3_1_7_1_19_delete_removes_the_object_and_is_notified() -> None:
    directory, state = made(), state_of()
    queue = Queue(Identifier=QUEUE)
    assert carried_out(directory, state, events.delete_directory_object(state, queue)).rStatus is Result.SUCCESS
    assert (
        carried_out(directory, state, events.delete_directory_object(state, queue)).rStatus is Result.OBJECT_NOT_FOUND
    )
    assert list(state.notifications) == [ChangeNotification(ChangeOperation.QUEUE_DELETION, queue)] * 2
    assert events.read_directory(directory, state, "Queue").rStatus is Result.OBJECT_NOT_FOUND


def test_mqdmpr_3_1_7_1_20_read_returns_the_first_object_that_matches_all_filters() -> None:
    directory, state = made(), state_of()
    cheap = AttributeFilter("QueueManagerQuota", ComparisonOperator.LESS_THAN, 10)
    assert (
        events.read_directory(directory, state, "QueueManager", [cheap]).rDirectoryObject
        == directory.read("QueueManager", build_equality_filter("Identifier", ALPHA)).rDirectoryObject
    )
    not_alpha = AttributeFilter("ComputerName", ComparisonOperator.NOT_EQUALS, "alpha")
    found = events.read_directory(directory, state, "QueueManager", [cheap, not_alpha], ["Identifier"])
    assert found.rDirectoryObject == QueueManager(Identifier=BETA)


@pytest.mark.parametrize("operation", ["create", "delete", "read", "write"])
def test_mqdmpr_3_1_7_1_18_event_on_lost_directory_sets_offline_and_starts_timer(operation: str) -> None:
    directory, state = made(), state_of()
    directory.connected = False
    run = {
        "create": lambda: carried_out(directory, state, events.create_directory_object(state, PUBLIC)).rStatus,
        "delete": lambda: carried_out(directory, state, DirectoryDeleteRequest(Queue(Identifier=QUEUE))).rStatus,
        "read": lambda: events.read_directory(directory, state, "Site").rStatus,
        "write": lambda: (
            carried_out(directory, state, DirectoryWriteRequest(Queue(Identifier=QUEUE, Label="x"))).rStatus
        ),
    }[operation]
    assert run() is Result.DIRECTORY_NOT_CONNECTED
    assert state.DirectoryOffline is True


def test_mqdmpr_3_1_7_1_20_own_queues_can_be_read_while_offline() -> None:
    directory, state = offline()
    state.QueueCollection = (Queue(Pathname="alpha\\a"), Queue(Pathname="alpha\\b", Label="here"))
    read = events.read_directory(directory, state, "Queue", build_equality_filter("Label", "here"))
    assert read.rDirectoryObject == state.QueueCollection[1]
    nothing = events.read_directory(directory, state, "Queue", build_equality_filter("Identifier", QUEUE))
    assert nothing.rStatus is Result.OBJECT_NOT_FOUND


@pytest.mark.parametrize(
    ("kind", "attribute", "value", "wanted"),
    [
        ("QueueManager", "Identifier", ALPHA, Result.SUCCESS),
        ("QueueManager", "Identifier", BETA, Result.DIRECTORY_NOT_CONNECTED),
        ("QueueManager", "Color", "red", Result.GENERIC_ERROR),
        ("Site", "Identifier", SITE_A, Result.DIRECTORY_NOT_CONNECTED),
    ],
)
def test_mqdmpr_3_1_7_1_20_offline_read_finds_no_foreign_objects(
    kind: str, attribute: str, value: object, wanted: Result
) -> None:
    directory, state = offline()
    directory.connected = True  # nobody may notice: the queue manager does not ask it
    read = events.read_directory(directory, state, kind, build_equality_filter(attribute, value))  # type: ignore[arg-type]
    assert read.rStatus is wanted
    assert (read.rDirectoryObject is state.LocalQueueManager) == (wanted is Result.SUCCESS)


def test_mqdmpr_3_1_7_1_20_forced_read_queries_directory_while_offline() -> None:
    directory, state = offline()
    directory.connected = True
    assert events.read_directory(directory, state, "Site", force=True).rStatus is Result.SUCCESS
    directory.connected = False
    fresh = state_of()
    assert events.read_directory(directory, fresh, "Site", force=True).rStatus is Result.DIRECTORY_NOT_CONNECTED
    assert fresh.DirectoryOffline is False


def test_mqdmpr_3_1_7_1_21_enumeration_returns_each_object_until_its_end() -> None:
    directory = made()
    begun = events.read_directory_begin(directory, "Site", attributes=["Name"])
    assert begun.rQueryHandle is not None
    names = [events.read_directory_next(directory, begun.rQueryHandle) for _ in range(3)]
    assert [one.rStatus for one in names] == [Result.SUCCESS, Result.SUCCESS, Result.END_OF_DATA]
    assert [one.rDirectoryObject for one in names] == [Site(Name="A"), Site(Name="B"), None]
    assert events.read_directory_end(directory, begun.rQueryHandle) is Result.SUCCESS
    assert events.read_directory_end(directory, begun.rQueryHandle) is Result.GENERIC_ERROR
    assert events.read_directory_next(directory, begun.rQueryHandle).rStatus is Result.GENERIC_ERROR


def test_mqdmpr_3_1_7_1_24_successful_directory_write_is_notified() -> None:
    directory, state = made(), state_of()
    queue, machine = Queue(Identifier=QUEUE, Label="x"), QueueManager(Identifier=ALPHA, JournalQuota=9)
    for element in (queue, machine, Site(Identifier=SITE_A, ForeignSite=True)):
        assert carried_out(directory, state, DirectoryWriteRequest(element)).rStatus is Result.SUCCESS
    assert list(state.notifications) == [
        ChangeNotification(ChangeOperation.QUEUE_UPDATE, queue),
        ChangeNotification(ChangeOperation.QUEUE_MANAGER_UPDATE, machine),
    ]


def test_mqdmpr_3_1_7_1_24_failed_directory_write_is_not_notified() -> None:
    directory, state = made(), state_of()
    assert (
        carried_out(directory, state, DirectoryWriteRequest(Queue(Pathname="alpha\\none"))).rStatus
        is Result.OBJECT_NOT_FOUND
    )
    assert list(state.notifications) == []


def test_mqdmpr_3_1_7_1_25_returned_directory_ends_the_offline_state() -> None:
    directory, state = offline()
    private = Queue(Pathname="alpha\\private$\\x", QueueType=QueueType.PRIVATE)
    state.QueueCollection = (Queue(Identifier=QUEUE, Label="stale"), private, Queue(Pathname="alpha\\gone"))
    directory.connected = True
    events.check_directory_online(directory, state)
    assert state.DirectoryOffline is False
    assert (state.LocalQueueManager.QueueManagerQuota, state.LocalQueueManager.SiteIdentifierList) == (7, (SITE_A,))
    assert [queue.Label for queue in state.QueueCollection] == ["orders", "", ""]
    assert state.QueueCollection[1:] == (private, Queue(Pathname="alpha\\gone"))


def test_mqdmpr_3_1_7_1_25_unavailable_directory_keeps_the_offline_state() -> None:
    directory, state = offline()
    events.check_directory_online(directory, state)
    assert state.DirectoryOffline is True


def test_mqdmpr_3_1_7_1_25_directory_without_own_queue_manager_keeps_the_offline_state() -> None:
    directory, state = offline()
    directory.connected = True
    directory.delete(Queue(Identifier=QUEUE))
    assert directory.delete(QueueManager(Identifier=ALPHA)) is Result.SUCCESS
    events.check_directory_online(directory, state)
    assert state.DirectoryOffline is True
