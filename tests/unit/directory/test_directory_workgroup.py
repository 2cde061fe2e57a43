"""Workgroup mode. MS-MQSO 4.3.1.3, MS-MQDMPR 3.1.1.1 DirectoryOffline."""

from __future__ import annotations

from directory_made import state_of

from reference_qm.directory import Queue, QueueManager, WorkgroupDirectory, events
from reference_qm.directory.enums import DirectoryOperationResult as Result

DIRECTORY = WorkgroupDirectory()


def test_every_event_fails_and_the_queue_manager_is_not_offline() -> None:
    state = state_of(directory_integrated=False)
    queue = Queue(Pathname="alpha\\q")
    results = [
        events.create_directory_object(DIRECTORY, state, queue).rStatus,
        events.delete_directory_object(DIRECTORY, state, queue),
        events.read_directory(DIRECTORY, state, "QueueManager").rStatus,
        events.read_directory_begin(DIRECTORY, "QueueManager").rStatus,
        events.write_directory(DIRECTORY, state, QueueManager()),
    ]
    assert set(results) == {Result.DIRECTORY_NOT_CONNECTED}
    assert state.DirectoryOffline is False


def test_no_handle_is_known() -> None:
    assert events.read_directory_next(DIRECTORY, 1).rStatus is Result.GENERIC_ERROR
    assert events.read_directory_end(DIRECTORY, 1) is Result.GENERIC_ERROR


def test_nothing_is_waited_for() -> None:
    state = state_of(directory_integrated=False)
    events.check_directory_online(DIRECTORY, state)
    assert state.DirectoryOffline is False
