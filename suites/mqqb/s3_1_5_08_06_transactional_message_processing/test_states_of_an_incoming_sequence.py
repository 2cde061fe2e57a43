"""MS-MQQB 3.1.5.8.6: each message at each position of an incoming sequence, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import malforms
from harness.states.cells import for_each_cell, judge_cell
from suites.mqqb.s3_1_5_08_06_transactional_message_processing.sequence_machine import IncomingSequenceStateDriver


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@for_each_cell(IncomingSequenceStateDriver)
def test_incoming_sequence_follows_its_states(peer, judge, cell):
    """For each state of an incoming sequence and each position of the next message, the SUT accepts or discards the
    message as states.toml specifies, and its next OrderAck contains the number of the last message of the next state.
    """
    judge_cell(judge, cell, IncomingSequenceStateDriver(peer))
