"""MS-MQQP 3.1.6.1 PCTX_RRSESSION_HANDLE_TYPE Rundown, 3.1.6.2 PCTX_REMOTEREAD_HANDLE_TYPE Rundown."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE
from harness.wire.rpc_qmcomm import DENY_RECEIVE
from suites.mqqp.steps.reading import FIRST, SECOND, brought, filled

pytestmark = needs("qm2qm")


@covers("MQQP-3.1.6.1-01")
def test_a_client_that_is_gone_leaves_no_queue_open(remote, judge):
    """It had the queue for itself and a read that waited; its connection ends; another opens the queue."""
    queue = filled(remote, FIRST, share=DENY_RECEIVE)
    queue.close_context()
    other = remote.associate()
    refused = remote.open_remote(other, share=DENY_RECEIVE)
    queue.association.close()
    remote.peer.environment.run_until(lambda: False, remote.sut.quiet_ms)
    opened = remote.open_remote(other, share=DENY_RECEIVE)
    observed = ["refused" if refused.failed else refused.outcome, opened.outcome]
    evidence = [*refused.evidence, *opened.evidence]
    judge("MQQP-3.1.6.1-01", expected=["refused", "MQ_OK"], observed=observed, evidence=evidence)


@covers("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02")
def test_a_client_that_is_gone_gives_its_message_back(remote, judge):
    """It received the first message and did not end that; its connection ends; another receives the same."""
    queue = filled(remote, FIRST, SECOND)
    other = remote.open()
    received = queue.read(RECEIVE)
    hidden = brought(other.read(PEEK_CURRENT))
    queue.association.close()
    remote.peer.environment.run_until(lambda: False, remote.sut.quiet_ms)
    again = other.read(RECEIVE)
    observed = [brought(received), hidden, brought(again)]
    for rule in ("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"):
        judge(rule, expected=[FIRST, SECOND, FIRST], observed=observed, evidence=[*received.evidence, *again.evidence])
    other.end(again)
