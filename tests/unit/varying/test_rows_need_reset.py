"""A varied check uses its rows only on a system that can be reset, so that no row depends on the state that an earlier
row left.
"""

from __future__ import annotations

from contextlib import closing

import pytest

from harness.sut.sut_file import parse_sut_file
from harness.sut.virtual_driver import VirtualDriver


@pytest.mark.parametrize(("facilities", "is_fresh"), [(["send", "reset"], True), (["send"], False), ([], False)])
def test_varied_rows_get_a_fresh_system_only_with_reset(facilities: list[str], is_fresh: bool) -> None:
    tree = {
        "sut": {"name": "limited"},
        "driver": {"kind": "virtual"},
        "reference": {"facilities": facilities},
        "capabilities": {"qm2qm": True},
    }
    with closing(VirtualDriver(parse_sut_file(tree)).open("check")) as sut:
        assert sut.is_reset_between_rows is is_fresh
