"""A queue manager in workgroup mode. MS-MQSO 4.3.1.3, MS-MQDMPR 3.1.1.1 DirectoryOffline."""

from __future__ import annotations

from directory_made import state_of

from reference_qm.directory import DirectoryReplica, QueueManager, events
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.interface import DirectoryWriteRequest

NONE = DirectoryReplica(connected=False)


def test_directory_events_fail_in_workgroup_mode_without_going_offline() -> None:
    state = state_of(directory_integrated=False)
    results = [
        events.read_directory(NONE, state, "QueueManager").rStatus,
        events.read_directory_begin(NONE, "QueueManager").rStatus,
    ]
    assert set(results) == {Result.DIRECTORY_NOT_CONNECTED}
    events.process_directory_change_result(state, DirectoryWriteRequest(QueueManager()), Result.DIRECTORY_NOT_CONNECTED)
    assert state.DirectoryOffline is False
    assert list(state.notifications) == []


def test_workgroup_directory_knows_no_enumeration_handle() -> None:
    assert events.read_directory_next(NONE, 1).rStatus is Result.GENERIC_ERROR
    assert events.read_directory_end(NONE, 1) is Result.GENERIC_ERROR


def test_workgroup_mode_does_not_wait_for_a_directory() -> None:
    state = state_of(directory_integrated=False)
    events.check_directory_online(NONE, state)
    assert state.DirectoryOffline is False
