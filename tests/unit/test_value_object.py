"""Values are equal and hashed by their fields; mypy refuses misuse that Python permits at run time."""

from mypy import api

from reference_qm.value_object import value_object

CHANGES_A_FIELD = """
from dataclasses import replace
from reference_qm.value_object import value_object

@value_object
class Point:
    x: int
    y: int = 0

replace(Point(1), x=2)
Point(1).x = 2
"""


@value_object
class Point:
    x: int
    y: int = 0


@value_object(kw_only=True, order=True)
class Moment:
    s: int


def test_value_objects_are_equal_by_their_fields():
    assert Point(1) == Point(1, 0)
    assert len({Point(1), Point(1, 0), Point(2)}) == 2
    assert not hasattr(Point(1), "__dict__")
    assert Moment(s=1) < Moment(s=2)


def test_mypy_rejects_assignment_to_a_value_object_field(tmp_path):
    file = tmp_path / "points.py"
    file.write_text(CHANGES_A_FIELD)
    said, complaint, code = api.run(["--strict", str(file)])
    assert (code, complaint) == (1, "")
    (line,) = (line for line in said.splitlines() if "error:" in line)
    assert line.endswith(':11: error: Property "x" defined in "Point" is read-only  [misc]')
