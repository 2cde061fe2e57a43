"""The guard process, ``guard_process.py MARK``: end the processes of a run after the end of the run. The program
imports no code of the project.

Standard input contains a line with the pid of each program that the run started. It is closed at the end of the
run, even if the run is killed. The guard process then ends every process that has the environment variable MARK,
and every process in the session of a started program. It sends SIGTERM and, if necessary, SIGKILL. Child processes,
including daemons, inherit the variable.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

LINE_THAT_ENDS_GUARD = "end"
"""The last line that a run writes to the guard process. It marks the end of the run even if forked processes keep
standard input open.
"""
STOP_TIMEOUT_S = 5
"""int s: the maximum time that a process has to exit after SIGTERM."""
_POLL_INTERVAL_S = 0.05
_STATE_FIELD_INDEX, _SESSION_FIELD_INDEX, _START_TIME_FIELD_INDEX = 0, 3, 19
"""The indexes of the fields in /proc/PID/stat that are used, counted from the field after the process name."""
_ZOMBIE_STATE = "Z"


def main(mark: str) -> None:
    """Wait until the run has ended. Then end its processes."""
    leaders: dict[int, str] = {}
    for line in sys.stdin:
        if line.strip() == LINE_THAT_ENDS_GUARD:
            break
        pid = int(line)
        leaders[pid] = _read_start_time(pid)
    asked = set[int]()
    begun = time.monotonic()
    while (pids := list_started_processes(mark, leaders)) and (now := time.monotonic()) < begun + 2 * STOP_TIMEOUT_S:
        late = now >= begun + STOP_TIMEOUT_S
        for pid in pids if late else pids - asked:
            _send_signal(pid, signal.SIGKILL if late else signal.SIGTERM)
        asked |= pids
        time.sleep(_POLL_INTERVAL_S)


def list_started_processes(mark: str, leaders: dict[int, str]) -> set[int]:
    """Return the processes whose environment contains the mark, and the processes in the sessions of the started
    programs. A started program whose pid has since been reused is ignored.
    """
    sessions = {str(pid) for pid, start in leaders.items() if start and _read_start_time(pid) == start}
    found = set[int]()
    for pid in _list_all_pids():
        fields = _read_stat_fields(pid)
        if (
            fields
            and fields[_STATE_FIELD_INDEX] != _ZOMBIE_STATE
            and (fields[_SESSION_FIELD_INDEX] in sessions or _has_mark(pid, mark))
        ):
            found.add(pid)
    return found


def _list_all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - pathlib takes longer to import


def _has_mark(pid: int, mark: str) -> bool:
    return any(entry.startswith(f"{mark}=".encode()) for entry in _read_process_file(pid, "environ").split(b"\0"))


def _read_start_time(pid: int) -> str:
    return "".join(_read_stat_fields(pid)[_START_TIME_FIELD_INDEX : _START_TIME_FIELD_INDEX + 1])


def _read_stat_fields(pid: int) -> list[str]:
    return _read_process_file(pid, "stat").decode("utf-8", "replace").rpartition(")")[2].split()


def _read_process_file(pid: int, name: str) -> bytes:
    """Return the content of a file in /proc/PID, or nothing if the process has ended or belongs to another user."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return b""


def _send_signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the process has ended, or belongs to another user
        os.kill(pid, number)


if __name__ == "__main__":
    main(sys.argv[1])
