"""Each entry point of pyproject.toml names an existing object of the project."""

from __future__ import annotations

import importlib
import tomllib

import pytest

from harness.paths import SUITES

PROJECT = tomllib.loads((SUITES.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GROUPS = [PROJECT["scripts"], *PROJECT["entry-points"].values()]


@pytest.mark.parametrize("place", sorted({place for group in GROUPS for place in group.values()}))
def test_entry_point_names_an_existing_object(place: str) -> None:
    module, _, name = place.partition(":")
    assert hasattr(importlib.import_module(module), name)
