"""MS-MQMQ 2.2.19.2 UserHeader: queue names in received messages of every kind."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from suites.mqmq.steps.received_kinds import MessagesOfEveryKind

THIRD_HOST_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f5")
MESSAGE_KINDS_WITH_QUEUE_NAMES = ("express", "large", "with a connector type", "transactional")
NAME_BUILDER_BY_QUEUE_TYPE = {
    2: lambda number: PrivateQueueFormatNameId(PrivateQueueIdentifier=number),
    3: lambda number: PrivateQueueFormatNameId(PrivateQueueIdentifier=number),
    4: lambda number: PrivateQueueFormatNameId(PrivateQueueIdentifier=number),
    5: lambda number: PublicQueueFormatName(PublicQueueIdentifier=UUID(int=number)),
    6: lambda number: PrivateQueueFormatName(SourceQueueManager=THIRD_HOST_GUID, PrivateQueueIdentifier=number),
    7: lambda number: rf"TCP:10.0.0.9\private$\queue{number}",
}
"""For each value of AQ and RQ, the function that builds a name with a given number."""
RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE, PRIVATE_QUEUE_ON_ADMIN_HOST_TYPE = 1, 4
PRIVATE_ADMIN_QUEUE_TYPES = (2, 3, 6)
LOW_QUEUE_NUMBER, HIGH_QUEUE_NUMBER = 7, 0x7FFF_FF05


def _list_queue_name_cases():
    for admin in (2, 3, 5, 6, 7):
        names = {"AQ": admin, "AdminQueue": NAME_BUILDER_BY_QUEUE_TYPE[admin](LOW_QUEUE_NUMBER)}
        yield admin, 0, names
        yield admin, RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE, names | {"RQ": RESPONSE_SAME_AS_ADMIN_QUEUE_TYPE}
        for response, build in NAME_BUILDER_BY_QUEUE_TYPE.items():
            if response != PRIVATE_QUEUE_ON_ADMIN_HOST_TYPE or admin in PRIVATE_ADMIN_QUEUE_TYPES:
                yield admin, response, names | {"RQ": response, "ResponseQueue": build(HIGH_QUEUE_NUMBER)}


@needs("receive")
@covers("MQMQ-2.2.19.2-37", "MQMQ-2.2.19.2-D01", "MQMQ-2.2.19.2-D02", "MQMQ-2.2.19.2-D07", "MQMQ-2.2.19.2-D08")
def test_names_of_admin_and_response_queues_reach_application(peer, sut, judge):
    """Messages of several kinds arrive with every pair of AQ and RQ. The application gets each message with the
    administration queue and the response queue that the peer sent.
    """
    kinds = MessagesOfEveryKind(peer, sut, MESSAGE_KINDS_WITH_QUEUE_NAMES)
    cases = {
        f"AQ {admin}, RQ {response}": (admin, response, names) for admin, response, names in _list_queue_name_cases()
    }
    for case, (_, _, names) in cases.items():
        kinds.send(case, {"user": names})
    kinds.await_acknowledgments()
    on_host_of_admin_queue = [
        case for case, (_, response, _) in cases.items() if response == PRIVATE_QUEUE_ON_ADMIN_HOST_TYPE
    ]
    for rules, judged in (
        (("MQMQ-2.2.19.2-D01", "MQMQ-2.2.19.2-D02", "MQMQ-2.2.19.2-D07", "MQMQ-2.2.19.2-D08"), list(cases)),
        (("MQMQ-2.2.19.2-37",), on_host_of_admin_queue),
    ):
        judge(
            *rules,
            expected=none("message that is missing or changed"),
            observed=kinds.list_differences_from_sent_messages(judged),
            evidence=kinds.list_evidence_frames(judged),
        )
