"""MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6: several reads, and reads of a queue that is open to peek."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.s3_2_4_2_peeking_and_receiving.repeated import begin_infinite_read, judge_repeated_reads
from suites.mqqp.s3_2_4_2_peeking_and_receiving.sections import parametrize_section
from suites.mqqp.steps.reader import Reader, Reading

pytestmark = needs("remote_read")

COMPARED_READ_FIELDS = ("ulAction", "dwSize", "lpBuffer")


@parametrize_section(
    lambda section: [section.version["old"], *(section.start_receive_rules[name] for name in COMPARED_READ_FIELDS)]
)
def test_client_calls_start_receive_for_each_read_of_old_server(peer, sut, judge, section):
    """The peer returns version 5.0. The SUT reads a queue, then reads it without a time limit, and then reads it and a
    second queue while a peek waits. If the first read calls RemoteQMStartReceive, each read calls this method, with the
    ulAction of the read, dwSize 0 and lpBuffer NULL.
    """
    reader, rule = Reader(peer, sut, Reader.WINDOWS_2000_VERSION), section.version["old"]
    remote, second = reader.open(), reader.open()
    reader.begin_read(section.reading, remote).outcome()
    calls = reader.reads()
    if [call.name for call in calls] != [Method.START_RECEIVE]:
        rules = [rule, *(section.start_receive_rules[name] for name in COMPARED_READ_FIELDS)]
        judge.mark_not_exercised(*rules, reason="the SUT does not read an old server by RemoteQMStartReceive")
        return
    begin_infinite_read(reader, section.reading, remote).outcome()
    reader.leave_start_receives_unanswered()
    begun = len(reader.reads())
    reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
    reader.run_until_start_receives(begun + 1)
    reader.answer_start_receives_with_message()
    for one in (remote, second):
        reader.begin_read(section.reading, one).outcome()
    names = [call.name for call in reader.reads()]
    judge(rule, expected=each(Method.START_RECEIVE, "read"), observed=names, evidence=reader.reads())
    calls = [call for number, call in enumerate(reader.reads()) if number != begun]
    judge_repeated_reads(
        reader, judge, calls, Method.START_RECEIVE, section.start_receive_rules, section.reading.action
    )


@covers("MQQP-3.2.4.2-02")
def test_client_cancels_peek_of_queue_opened_to_peek(peer, sut, judge):
    """The SUT has a queue open to peek, and a peek waits. When the application cancels the peek, the SUT calls
    RemoteQMCancelReceive with the dwRequestID of the peek.
    """
    reader = Reader(peer, sut)
    remote = reader.open(access="peek")
    reader.leave_start_receives_unanswered()
    request = reader.begin_read(Reading.PEEK, remote, Reader.LONG_TIMEOUT_MS)
    asked = reader.get_read_description(reader.await_start_receives()[0])
    reader.begin("cancel", request=request.number)
    cancels = reader.server.wait(Method.CANCEL_RECEIVE)
    judge(
        "MQQP-3.2.4.2-02",
        expected=[asked.dwRequestID],
        observed=[call.decoded_request.dwRequestID for call in cancels if call.decoded_request is not None],
        case="dwRequestIDs of RemoteQMCancelReceive",
        evidence=[*reader.reads(), *cancels],
    )
