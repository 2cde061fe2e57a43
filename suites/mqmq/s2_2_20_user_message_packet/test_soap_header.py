"""MS-MQMQ 2.2.20.7 SoapHeader: in a message that the SUT hands on; SOAP messages themselves come in over HTTP."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqmq.steps.handing_on import handed_on

TEXTS = {"Header": "<Envelope/>", "Body": "<Body>of the peer</Body>"}


@needs("private_names")
@covers("MQMQ-2.2.20.7-01", "MQMQ-2.2.20.7-03", "MQMQ-2.2.20.7-04", "MQMQ-2.2.20.7-06")
def test_a_soap_header_is_made_of_two_sections(peer, sut, judge):
    """Both sections have the number that they are known by and the length of their text with its null."""
    sent, frame = handed_on(peer, sut, soap=TEXTS)
    header = frame["SoapHeader"]
    for rule, name, expected in (
        ("MQMQ-2.2.20.7-01", "HeaderSectionID", 0x0320),
        ("MQMQ-2.2.20.7-03", "HeaderDataLength", len(TEXTS["Header"]) + 1),
        ("MQMQ-2.2.20.7-04", "BodySectionID", 0x0384),
        ("MQMQ-2.2.20.7-06", "BodyDataLength", len(TEXTS["Body"]) + 1),
    ):
        observed = f"{name} {getattr(header, name)}"
        judge(rule, expected=f"{name} {expected}", observed=observed, evidence=[sent, frame])
