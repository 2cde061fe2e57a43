"""MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6: a read after an answer that reports success but contains no message."""

from __future__ import annotations

from harness.run.marks import needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.s3_2_4_2_peeking_and_receiving.sections import parametrize_section
from suites.mqqp.steps.reader import Reader

pytestmark = needs("remote_read")


@parametrize_section(lambda section: [section.message["message"]])
def test_client_delivers_message_after_answer_without_message(peer, sut, judge, section):
    """The peer answers a read with success, but with lpBuffer NULL. Then it answers a second read with a message. The
    application receives the message.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    cursor = reader.open_cursor(remote) if section.reading.by_cursor else None
    for name in (Method.START_RECEIVE, Method.START_RECEIVE2):
        reader.server.answers[name] = lambda call: reader.answer_read(call, None)
    reader.begin_read(section.reading, remote, cursor=cursor).outcome()
    reader.await_start_receives()
    reader.answer_start_receives_with_message()
    second = reader.begin_read(section.reading, remote, cursor=cursor)
    outcome = second.outcome()
    message = (second.wait().get("message") or {}) if second.is_answered else {}
    judge(
        section.message["message"],
        expected=Reader.MESSAGE_LABEL,
        observed=message.get("label", outcome),
        case="label of the message of the second read",
        evidence=reader.reads(),
    )
