"""MS-MQQB 3.1.5.8.9 Sending a Trace Message, on receipt, and 3.1.7.1.7 Sending Trace Message, on sending."""

from __future__ import annotations

import re

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.fate import DIRECT, PUBLIC, REPORT, Fate, message_class
from suites.mqqb.steps.opening import OTHER_GUID, direct_name

RECEIVED, SENT = "MQQB-3.1.5.8.9-", "MQQB-3.1.7.1.7-"
EXPRESS = 0
TIME = (
    r"\d\d:\d\d(:\d\d)? [AP]M (Sun|Mon|Tue|Wed|Thu|Fri|Sat),(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d\d \d\d"
)


def _label(message: Frame) -> str:
    """Give what the label of a report on a message must begin with, before the time (E35: what both readings have)."""
    user = message["UserHeader"]
    source = str(user.SourceQueueManager).upper()
    return f"{source[:4]}:{user.MessageID:08X}:{user.RC:02X}"


def _text(report: Frame) -> str:
    return bytes(report["MessagePropertiesHeader"].MessageBody).decode("utf-16-le", "replace").rstrip("\0")


def _label_of(report: Frame) -> str:
    """Give the beginning of a report's label, when the rest is the source, and a time."""
    label = report["MessagePropertiesHeader"].Label
    text = (label.decode("utf-16-le", "replace") if isinstance(label, bytes) else str(label)).rstrip("\0")
    begins, _, rest = text.partition(" ")
    guid = r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    return begins.upper() if re.fullmatch(rf"\w+ by {guid} at {TIME}", rest) else text


def _destination(report: Frame) -> str:
    user = report["UserHeader"]
    return f"DQ {user.DQ}, {getattr(user.DestinationQueue, 'PublicQueueIdentifier', user.DestinationQueue)}"


@covers(*(f"{RECEIVED}{number:02}" for number in (*range(1, 9), 11)), "MQQB-3.1.5.8-11")
@needs("public_names")
def test_a_traced_message_that_arrives_is_reported(peer, sut, judge):
    """Of three messages one is traced, one not, one to a queue that nobody knows: there is one report."""
    fate = Fate(peer, sut)
    traces = [(1, PEER_PUBLIC_QUEUE), (0, PEER_PUBLIC_QUEUE), (1, OTHER_GUID)]
    sent = [
        fate.give(fate.asking({"RC": 3}, base={"TR": traced}, debug={"QueueIdentifier": queue}))
        for traced, queue in traces
    ]
    reports = fate.await_all(fate.reports, 1)
    evidence = [*sent, *reports]
    for rule in (f"{RECEIVED}01", f"{RECEIVED}02", f"{RECEIVED}08", f"{RECEIVED}11", "MQQB-3.1.5.8-11"):
        judge(
            rule, expected="1 report", observed=f"{len(reports)} report{'s' * (len(reports) != 1)}", evidence=evidence
        )
    for report in reports[:1]:
        address = f"TCP:{sut.address}\\{sut.queue()}"
        body = (
            f"<MESSAGE ID>{sent[0]['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n"
            f"<TARGET QUEUE>DIRECT={address}</TARGET QUEUE>\r\n"
        )
        for rule, expected, observed in (
            ("03", REPORT, message_class(report)),
            ("04", f"DQ {PUBLIC}, {PEER_PUBLIC_QUEUE}", _destination(report)),
            ("05", EXPRESS, report["UserHeader"].DM),
            ("06", _label(sent[0]), _label_of(report)),
            ("07", body.lower(), _text(report).lower()),
        ):
            judge(f"{RECEIVED}{rule}", expected=expected, observed=observed, evidence=evidence)


@covers(*(f"{SENT}{number:02}" for number in range(1, 6)), "MQQB-3.1.7.1-11", "MQMQ-2.2.19.1-12")
@needs("send", "public_names")
def test_a_traced_message_that_is_sent_is_reported(peer, sut, judge):
    """The SUT sends two messages, one of them traced: the report tells of that one and where it went."""
    fate = Fate(peer, sut)
    to = direct_name(peer)
    sut.send(to, body="not traced", label="not traced")
    sut.send(to, body="traced", label="traced", trace_queue=str(PEER_PUBLIC_QUEUE))
    reports = fate.await_all(fate.reports, 1)
    own = [frame for frame in fate.messages if frame["UserHeader"].DQ == DIRECT and frame["BaseHeader"].TR]
    evidence = [*own, *reports]
    traced = sorted({frame["BaseHeader"].TR for frame in fate.messages if frame["UserHeader"].DQ == DIRECT})
    judge("MQMQ-2.2.19.1-12", expected="TR [0, 1]", observed=f"TR {traced}", evidence=evidence)
    for rule in (f"{SENT}01", f"{SENT}02", "MQQB-3.1.7.1-11"):
        judge(rule, expected="1 report", observed=f"{len(reports)} report", evidence=evidence)
    for message, report in zip(own, reports, strict=False):
        body = (
            f"<MESSAGE ID>{message['UserHeader'].MessageID:08X}</MESSAGE ID>\r\n<TARGET QUEUE>{to}</TARGET QUEUE>\r\n"
            f"<NEXT HOP>{peer.address}</NEXT HOP>\r\n<HOP COUNT>00</HOP COUNT>\r\n"
        )
        expected = f"class {REPORT}, DQ {PUBLIC}, {PEER_PUBLIC_QUEUE}, DM {EXPRESS}"
        observed = f"class {message_class(report)}, {_destination(report)}, DM {report['UserHeader'].DM}"
        judge(f"{SENT}03", expected=expected, observed=observed, evidence=evidence)
        judge(f"{SENT}04", expected=_label(message), observed=_label_of(report), evidence=evidence)
        observed = _text(report).replace(" </HOP COUNT>", "</HOP COUNT>")
        judge(f"{SENT}05", expected=body.lower(), observed=observed.lower(), evidence=evidence)
