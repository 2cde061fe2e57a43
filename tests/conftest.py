"""Settings for all tests. This folder is on the import path, so every test can import its helpers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from costs import Costs

pytest_plugins = ("harness.run.plugin",)
"""The plugins that give tests the marks and options of a run."""


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("MQ_COSTS"):
        config.pluginmanager.register(Costs(Path(path).absolute()), "costs")
