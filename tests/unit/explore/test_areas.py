"""The areas that ``mqconform explore`` offers."""

from __future__ import annotations

import inspect

from harness.cli.explore import explore
from harness.explore.areas import AREA_BY_NAME


def test_help_of_explore_names_every_area() -> None:
    option = inspect.get_annotations(explore, eval_str=True)["area"].__metadata__[0]
    assert all(name in option.help for name in AREA_BY_NAME), option.help
