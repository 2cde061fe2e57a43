"""MS-MQDMPR 3.1.7.1.5 Open Queue: each event in each open mode of a queue, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqdmpr.s3_1_7_1_05_open_queue.openings_machine import OpenModes

pytestmark = needs("qm2qm")


@for_each_cell(OpenModes)
def test_readers_of_a_queue_decide_who_else_may_open_it(remote, judge, cell):
    """Each event is applied in each state of a queue. The outcome is the one in the table states.toml, and afterwards
    the queue can be opened only in the modes that the next state allows.
    """
    judge_cell(judge, cell, OpenModes(remote))
