"""MS-MQQP 3.1.1.3, 3.1.1.5, 3.1.4, 3.1.6: each event in each state of a handle, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqqp.s3_1_1_server_data_model.handle_machine import Handle

pytestmark = needs("qm2qm")


@for_each_cell(Handle)
def test_handle_of_a_remote_reader_follows_its_states(remote, judge, cell):
    """Each event is applied in each state of a handle. The outcome is the one in the table states.toml, and a second
    reader finds the messages that the next state requires.
    """
    judge_cell(judge, cell, Handle(remote))
