"""MS-MQMQ 2.2.20.7 SoapHeader, 2.2.18.1.4.2 MQFDistributionQueueFormatName: in messages that the SUT hands on.

No queue manager makes them itself: SOAP messages come in over HTTP, lists are expanded by the directory. In a message
on its way to another queue manager they are sent as they came (MS-MQQB 3.1.5.8.5).
"""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import MQFDirectQueueFormatName, MQFDistributionQueueFormatName, MQFFormatNameElement
from suites.messages import a_message
from suites.mqqb.steps.disposition import private_queue
from suites.mqqb.steps.opening import opened
from suites.mqqb.steps.sender import Sender

SOAP, LISTED = "MQMQ-2.2.20.7-", "MQMQ-2.2.18.1.4.2-"
TEXTS = {"Header": "<Envelope/>", "Body": "<Body>of the peer</Body>"}
SOME_LIST = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
QUEUE = 1


def handed_on(peer, sut, **headers):
    """Give the SUT a message for a private queue of the peer; give it as it was sent and as it comes back."""
    sender = Sender(peer, sut)
    tag = peer.message_id() & 0xFFFF
    packet = a_message(peer, private_queue(peer.identifier, QUEUE), destination=None, ApplicationTag=tag, **headers)
    sent = opened(peer).send(packet)
    session = sender.session()
    came = [frame for frame in sender.collect(session, 1) if frame["MessagePropertiesHeader"].ApplicationTag == tag]
    sender.acknowledge_all(session)
    if not came:
        raise ConformanceFailure("the SUT did not hand the message on")
    return sent, came[0]


@needs("private_names")
@covers(*(f"{SOAP}{number}" for number in ("01", "03", "04", "06")))
def test_a_soap_header_is_made_of_two_sections(peer, sut, judge):
    """Both sections have the number that they are known by and the length of their text with its null."""
    sent, frame = handed_on(peer, sut, soap=TEXTS)
    header = frame["SoapHeader"]
    for rule, name, expected in (
        ("01", "HeaderSectionID", 0x0320),
        ("03", "HeaderDataLength", len(TEXTS["Header"]) + 1),
        ("04", "BodySectionID", 0x0384),
        ("06", "BodyDataLength", len(TEXTS["Body"]) + 1),
    ):
        observed = f"{name} {getattr(header, name)}"
        judge(f"{SOAP}{rule}", expected=f"{name} {expected}", observed=observed, evidence=[sent, frame])


@needs("private_names")
@covers(f"{LISTED}01", f"{LISTED}02")
def test_a_distribution_list_among_destinations_is_its_guid(peer, sut, judge):
    """A list of destinations with a direct name and a distribution list still has both: FormatType 6, 16 bytes."""
    direct = f"TCP:{peer.address}\\private$\\mqc-listed"
    elements = [
        MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=direct)),
        MQFFormatNameElement(FormatName=MQFDistributionQueueFormatName(DistributionListIdentifier=SOME_LIST)),
    ]
    sent, frame = handed_on(peer, sut, mqf={"Destination": elements})
    found = frame["MultiQueueFormatHeader"].Destination.FormatNameList
    types = [int(each.FormatType) for each in found]
    judge(f"{LISTED}01", expected="FormatTypes [3, 6]", observed=f"FormatTypes {types}", evidence=[sent, frame])
    guids = [str(each.FormatName.DistributionListIdentifier) for each in found if each.FormatType == 6]
    judge(f"{LISTED}02", expected=str([str(SOME_LIST)]), observed=str(guids), evidence=[sent, frame])
