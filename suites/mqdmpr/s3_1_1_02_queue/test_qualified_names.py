"""MS-MQDMPR 3.1.1.2 Queue: the QualifiedPathname of changed and public queues."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise


@needs("inspect", "queue_control")
@covers("MQDMPR-3.1.1.2-03")
@pytest.mark.parametrize("kind", ["private", pytest.param("public", marks=needs("directory"))])
def test_qualified_path_name_has_computer_with_domain(peer, sut, judge, kind):
    """The QualifiedPathname of a private or public queue begins with a computer name that has a domain, even after a
    change of the queue's label.
    """
    queue = sut.new_queue("qualified") if kind == "private" else Enterprise(peer, sut).create_queue()
    for time in ("before the change", "after the change"):
        if time == "after the change":
            sut.control.call("set_queue", name=queue, label="changed")
        computer = str(sut.inspect_queue(queue)["QualifiedPathname"]).partition("\\")[0]
        judge(
            "MQDMPR-3.1.1.2-03",
            expected=holds("the computer name has a domain"),
            observed="." in computer.strip(".") or computer,
            case=f"computer in the QualifiedPathname of a {kind} queue {time}",
        )
