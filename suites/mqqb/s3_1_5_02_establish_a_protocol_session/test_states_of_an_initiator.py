"""MS-MQQB 3.1.5.2 to 3.1.5.8: each packet in each state of a session that the SUT opens, according to the table
states.toml.
"""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqqb.s3_1_5_02_establish_a_protocol_session.initiator_machine import InitiatorStateDriver

pytestmark = needs("send")


@for_each_cell(InitiatorStateDriver)
def test_opened_session_follows_its_states(peer, judge, cell):
    """For each state of a session that the SUT opens and each packet, the SUT reacts as states.toml specifies."""
    judge_cell(judge, cell, InitiatorStateDriver(peer))
