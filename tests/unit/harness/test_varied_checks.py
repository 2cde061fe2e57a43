"""The values with which a check is repeated on a system: values that need a missing capability are not used, and the
verdict names them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.run.marks import varied
from harness.run.varied_checks import VariedValues


def system(*has: str) -> Any:
    return SimpleNamespace(has=lambda need: need in has)


def test_varied_value_without_its_capability_is_left_out_and_named() -> None:
    wanted = {"security": ["none", "without sender", "signed"], "priority": ["3", "7"]}
    drawn = VariedValues.draw_values(wanted, system())
    assert drawn.values == {"security": ["none", "without sender"], "priority": ["3", "7"]}
    assert str(drawn) == "; not varied: security = signed (the SUT has no security)"
    assert VariedValues.draw_values(wanted, system("security")).reason_by_omitted_value == {}


def test_parameter_with_a_single_remaining_value_is_not_varied() -> None:
    drawn = VariedValues.draw_values({"queue journaling": ["no", "yes"]}, system())
    assert drawn.values == {}
    assert str(drawn) == "; not varied: queue journaling = yes (the SUT has no queue_control)"


def test_varied_mark_takes_all_or_some_values_of_a_parameter() -> None:
    mark = varied("priority", delivery=("express", "recoverable"))
    assert mark.args == ({"priority": ["3", "0", "7"], "delivery": ["express", "recoverable"]},)


@pytest.mark.parametrize(("parameters", "values"), [(("color",), {}), ((), {"delivery": ("by hand",)})])
def test_varied_mark_refuses_unknown_parameters_and_values(parameters: tuple[str, ...], values: dict[str, Any]) -> None:
    with pytest.raises(HarnessError, match="@varied: "):
        varied(*parameters, **values)
