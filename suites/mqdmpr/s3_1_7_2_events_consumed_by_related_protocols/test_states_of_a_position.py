"""MS-MQDMPR 3.1.1.11, 3.1.7.2.1: each event in each state of a message position, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqdmpr.s3_1_7_2_events_consumed_by_related_protocols.position_machine import MessagePositionMachine

pytestmark = needs("qm2qm", "queue_control", "receive", "send", "transactions")


@for_each_cell(MessagePositionMachine)
def test_message_position_follows_its_states(remote, judge, cell):
    """Each event is applied to a message position in each state. The outcome is the one in the table states.toml, and
    the queue, the journal and the acknowledgments are those that the next state requires.
    """
    judge_cell(judge, cell, MessagePositionMachine(remote))
