"""MS-MQQP 3.1.4.1 RemoteQMStartReceive, 3.1.4.10 RemoteQMStartReceive2: the dwRequestIDs of reads by both methods."""

from __future__ import annotations

from harness.expectations import each, facts
from harness.judging.verdicts import Verdict
from harness.peer.association import Call
from harness.run.marks import needs
from harness.sut.releases import does_release_lack_method
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"in use": ["MQQP-3.1.4.1-D08"]},
        Method.START_RECEIVE2: {"in use": ["MQQP-3.1.4.10-16"]},
    }
)
def test_request_id_of_read_by_other_method_is_in_use(remote, sut, judge, by, rules):
    """A receive waits by the method of the rule. If the SUT refuses a second receive by this method with the same
    dwRequestID, then a peek and a receive wait by the other method. The SUT refuses receives by the method of the rule
    with the dwRequestIDs of these two reads, and both reads still wait.
    """
    if does_release_lack_method(sut, Method.START_RECEIVE2):
        judge.give_up(Verdict.NOT_EXERCISED, "the SUT does not implement RemoteQMStartReceive2")
        return
    other = Method.START_RECEIVE2 if by == Method.START_RECEIVE else Method.START_RECEIVE
    queue = remote.open()
    own_number = remote.request_id()
    own = queue.begin_receive(by=by, dwRequestID=own_number, ulTimeout=LONG_READ_TIMEOUT_MS)
    own.state_after_silence()
    validated = queue.start_receive(by=by, dwRequestID=own_number)
    if validated.outcome != "MQ_ERROR_INVALID_PARAMETER":
        reason = "the SUT does not refuse a dwRequestID that a waiting read has, as notes <10> and <26> permit"
        judge.mark_not_exercised(*rules["in use"], reason=reason, evidence=validated)
        return
    numbers = [remote.request_id() for _ in range(2)]
    waiting = [
        queue.begin(action, by=other, dwRequestID=number, ulTimeout=LONG_READ_TIMEOUT_MS)
        for action, number in zip((Action.PEEK_CURRENT, Action.RECEIVE), numbers, strict=True)
    ]
    before = [read.state_after_silence() for read in waiting]
    again = [queue.start_receive(by=by, dwRequestID=number) for number in numbers]
    after = [read.state_after_silence() for read in waiting]
    judge(
        *rules["in use"],
        expected=facts(
            waiting_reads=each(Call.WAITING),
            receives_by_the_method_of_the_rule=each("MQ_ERROR_INVALID_PARAMETER"),
            waiting_reads_afterwards=each(Call.WAITING),
        ),
        observed={
            "waiting_reads": before,
            "receives_by_the_method_of_the_rule": [read.outcome for read in again],
            "waiting_reads_afterwards": after,
        },
        evidence=[*waiting, *again],
    )
