"""Checks the Java installation, so that a missing or old Java is reported before the command imports slow modules and
starts Spark.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from reports.rollup_error import RollupError
from reports.text import one_line

LOWEST_JAVA_VERSION = 17
_JAVA_HELP = (
    f"install Java (Debian: apt-get install openjdk-17-jre-headless) or set JAVA_HOME to a Java {LOWEST_JAVA_VERSION}+"
)


def check_java() -> str:
    """Return the path of the Java that Spark will start. Raise `RollupError` if Java is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java"))) if home else shutil.which("java")
    if java is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "no java is on the PATH"
        raise RollupError(f"rollup needs Java {LOWEST_JAVA_VERSION} or newer, but {where}: {_JAVA_HELP}")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RollupError(f"{java} does not run ({one_line(str(error))}): {_JAVA_HELP}") from error
    version = parse_java_version(answer.stderr + answer.stdout)
    if version is None or version < LOWEST_JAVA_VERSION:
        found = "of an unknown version" if version is None else f"Java {version}"
        raise RollupError(f"rollup needs Java {LOWEST_JAVA_VERSION} or newer, but {java} is {found}: {_JAVA_HELP}")
    return java


def parse_java_version(answer: str) -> int | None:
    """Return the number of the feature release in the output of ``java -version``: 17 for "17.0.15", 8 for
    "1.8.0_372".
    """
    match = re.search(r'version "(?:1\.)?(\d+)', answer)
    return int(match[1]) if match else None
