"""MS-MQDMPR 3.2.7: every event in every state of a cursor, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqdmpr.s3_2_cursor.cursor_machine import Cursor

pytestmark = needs("qm2qm")


@for_each_cell(Cursor)
def test_cursor_follows_its_states(remote, judge, cell):
    """Each event is applied to a cursor in each state. The outcome is the one in the table states.toml, and later reads
    by the cursor return the messages that the next state requires.
    """
    judge_cell(judge, cell, Cursor(remote))
