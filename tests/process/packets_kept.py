"""A pytest plugin that counts, at the end of a run, the recorders of finished checks that are still in memory, and
writes their number.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from harness.capture.recorder import Recorder


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    gc.unfreeze()
    gc.collect()
    kept = sum(isinstance(each, Recorder) for each in gc.get_objects())
    Path(os.environ["MQ_RECORDERS_KEPT"]).write_text(str(kept), encoding="ascii")
