"""MS-MQDMPR 3.1.7.1.6 Close Queue: what becomes of cursors."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import DONE, REFUSED, asked


@needs("receive", "queue_control")
@covers("MQDMPR-3.1.7.1.6-15")
def test_the_cursors_of_a_closed_opening_are_closed(sut, judge):
    """A queue is opened twice, each with two cursors: when one is closed, its cursors are, and the others are not."""
    queue = sut.new_queue("cursors")
    handles = [sut.control.call("open_queue", queue=queue, access="receive")["handle"] for _ in range(2)]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for handle in handles for _ in range(2)]

    def known() -> list[str]:
        return [asked(sut, "peek_message", cursor=cursor, timeout_ms=0) for cursor in cursors]

    before = known()
    sut.control.call("close_queue", handle=handles[0])
    observed = [*before, *known()]
    judge("MQDMPR-3.1.7.1.6-15", expected=[*[DONE] * 4, *[REFUSED] * 2, *[DONE] * 2], observed=observed)
    sut.control.call("close_queue", handle=handles[1])
