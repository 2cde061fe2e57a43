"""MS-MQQB 3.1.1.3.1, 3.1.5.1 to 3.1.5.8: each packet in each state of an accepted session, according to the table
states.toml.
"""

from __future__ import annotations

from harness.states.cells import for_each_cell, judge_cell
from suites.mqqb.s3_1_1_3_1_session_state.acceptor_machine import AcceptorStateDriver


@for_each_cell(AcceptorStateDriver)
def test_accepted_session_follows_its_states(peer, judge, cell):
    """For each state of an accepted session and each packet, the SUT reacts as states.toml specifies, and a second
    session stays open.
    """
    judge_cell(judge, cell, AcceptorStateDriver(peer))
