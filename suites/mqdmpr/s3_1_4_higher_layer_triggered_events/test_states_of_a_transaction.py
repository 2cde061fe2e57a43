"""MS-MQDMPR 3.1.4.3 to 3.1.4.8: each event in each state of a transaction, according to the table states.toml."""

from __future__ import annotations

from harness.run.marks import needs
from harness.states.cells import for_each_cell, judge_cell
from suites.mqdmpr.s3_1_4_higher_layer_triggered_events.transaction_machine import Transaction

pytestmark = needs("receive", "queue_control", "send", "transactions", "subqueues")


@for_each_cell(Transaction)
def test_transaction_follows_its_states(peer, judge, cell):
    """Each event is applied to a transaction in each state. The outcome is the one in the table states.toml, and the
    messages of the transaction are in the queues that the next state requires.
    """
    judge_cell(judge, cell, Transaction(peer))
