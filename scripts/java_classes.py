"""Makes an archive of the classes that Java loads when Spark starts, so that every later start is faster.

`python scripts/java_classes.py` makes the file `reports.spark.JAVA_CLASS_ARCHIVE`, which has 190 MiB, in half a minute.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lake_runs import Runs
from reports.spark import JAVA_CLASS_ARCHIVE, SHORT_JOB_OPTIONS

HANG_TIMEOUT_S = 1_800
"""The time in s after which Java counts as hanging. Making the archive takes half a minute on an idle machine, and
minutes on a busy one.
"""


def main() -> int:
    """Ingest a run into a temporary lake, so that Java writes the archive of the classes that it loaded. Return 0 if
    the archive is complete.
    """
    with tempfile.TemporaryDirectory(prefix="mqconform-classes-") as scratch:
        folder = Path(scratch)
        [run] = Runs(folder / "runs").more(1)
        made = folder / JAVA_CLASS_ARCHIVE.name
        option = f"spark.driver.extraJavaOptions={SHORT_JOB_OPTIONS} -XX:ArchiveClassesAtExit={made}"
        command = [sys.executable, "-m", "mqconform", "lake", "ingest", run, "--lake", str(folder / "lake")]
        command += ["--conf", option]
        try:
            done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, timeout=HANG_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return 1
        until = time.monotonic() + HANG_TIMEOUT_S
        while _is_written(made) and time.monotonic() < until:
            time.sleep(0.2)
        if done.returncode or not made.is_file():
            return 1
        JAVA_CLASS_ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
        aside = JAVA_CLASS_ARCHIVE.with_suffix(".new")
        shutil.copyfile(made, aside)
        aside.replace(JAVA_CLASS_ARCHIVE)
        return 0


def _is_written(file: Path) -> bool:
    """Return whether Java is still writing the archive. Java may write the archive even after the command that started
    Java has ended.
    """
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # the process has just ended
            if f"ArchiveClassesAtExit={file}".encode() in process.read_bytes():
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
