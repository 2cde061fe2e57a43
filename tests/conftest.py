"""What all tests share. This folder is on the path: helpers in it can be imported by every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from costs import Costs

pytest_plugins = ("harness.run.plugin",)
"""Tests use the marks and options of a run."""


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("MQ_COSTS"):
        config.pluginmanager.register(Costs(Path(path).absolute()), "costs")
