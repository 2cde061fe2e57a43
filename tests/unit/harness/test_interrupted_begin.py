"""Ctrl-C before the first check of a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness_made import sut_file

from harness.run import plugin
from harness.sut.drivers import start_all_suts
from harness.sut.virtual_driver import VirtualDriver


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_run_interrupted_at_its_start_has_the_exit_code_of_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(plugin, "_begin_run", interrupt)
    monkeypatch.setattr(pytestconfig.option, "sut", str(tmp_path / "sut.toml"))
    with pytest.raises(pytest.exit.Exception) as ended:
        plugin.pytest_configure(pytestconfig)
    assert ended.value.returncode == 130


def test_interrupt_stops_started_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers = [VirtualDriver(sut_file()) for _ in range(2)]
    stopped: list[VirtualDriver] = []
    monkeypatch.setattr(VirtualDriver, "start", interrupt)
    monkeypatch.setattr(VirtualDriver, "stop", lambda driver: stopped.append(driver))
    with pytest.raises(KeyboardInterrupt):
        start_all_suts(drivers)
    assert stopped == drivers
