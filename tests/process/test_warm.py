"""A fork of a warm process behaves like a newly started process at its end, and does not outlive the test that started
it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import end_of, until
from qm_process import serve

HERE = Path(__file__).parent
ASK_AND_DIE = """
import os, signal, tempfile
from pathlib import Path
from warm import Forked

words = ("--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0")
with tempfile.TemporaryFile() as out:
    print(Forked("reference_qm", words, (out, out), Path.cwd(), os.environ).pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_killed_fork_reports_its_signal(tmp_path: Path):
    with serve(tmp_path, "--tcp-port", "0", "--ping-port", "0") as served:
        assert is_alive(served.process.pid)
        assert served.process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            served.process.wait(0.01)
        served.process.kill()
        assert end_of(served.process) == -signal.SIGKILL
        served.process.terminate()  # of what has ended nothing is asked


def test_forks_end_when_their_client_is_killed():
    paths = {"PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parent)))}
    asked = [sys.executable, "-c", ASK_AND_DIE]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, env=os.environ | paths, cwd=HERE.parents[1]) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert end_of(process) == -signal.SIGKILL
    until(lambda: not is_alive(pid), "the fork ends")
