"""The rules that every check judges by comparing messages on the control channel with their packets."""

from __future__ import annotations

from harness.judging.compared import ComparisonDirection, register_property_rules

MESSAGE_PROPERTIES_HEADER_PROPERTIES = (
    "label body_base64 body_type application_tag correlation_id extension_base64 acks"
)
USER_HEADER_PROPERTIES = "time_to_be_received_s admin_queue response_queue delivery positive_journal negative_journal"
BASE_HEADER_PROPERTIES = "priority time_to_reach_queue_s trace_queue"

# -- the packet of a message that an application of the SUT sends ------------------------------------------------------
for _properties, _rules in (
    (
        f"{BASE_HEADER_PROPERTIES} {MESSAGE_PROPERTIES_HEADER_PROPERTIES} {USER_HEADER_PROPERTIES}",
        ("MQDMPR-3.1.7.1.32-02", "MQDMPR-3.1.7.1.32-03"),
    ),
    (f"{BASE_HEADER_PROPERTIES} {MESSAGE_PROPERTIES_HEADER_PROPERTIES}", ("MQDMPR-3.1.7.1.32-06",)),
    (USER_HEADER_PROPERTIES, ("MQDMPR-3.1.7.1.32-08", "MQDMPR-3.1.7.1.32-D05")),
    ("priority trace_queue", ("MQDMPR-3.1.7.1.32-05",)),
    (BASE_HEADER_PROPERTIES, ("MQDMPR-3.1.7.1.32-D01",)),
    (MESSAGE_PROPERTIES_HEADER_PROPERTIES, ("MQDMPR-3.1.7.1.32-D02",)),
    ("trace_queue", ("MQDMPR-3.1.7.1.32-D07", "MQDMPR-3.1.7.1.30-D04")),
    ("positive_journal", ("MQDMPR-3.1.7.1.32-D10",)),
    ("negative_journal", ("MQDMPR-3.1.7.1.32-D11",)),
    ("application_tag", ("MQMQ-2.2.19.3-16",)),
    ("extension_base64", ("MQMQ-2.2.19.3-27",)),
    ("extension_base64 body_base64", ("MQMQ-2.2.19.3-D05",)),
    ("label", ("MQMQ-2.2.19.3-09",)),
    ("body_base64", ("MQMQ-2.2.19.3-17",)),
    ("admin_queue", ("MQMQ-2.2.19.2-D07",)),
    ("response_queue", ("MQMQ-2.2.19.2-D08",)),
    ("delivery", ("MQDMPR-3.1.1.12-18",)),
):
    register_property_rules(ComparisonDirection.SENT, _properties, *_rules)

for _property, _rules in (
    ("trace_queue", ("MQDMPR-3.1.1.12-D31", "MQDMPR-3.1.1.12-D32")),
    ("positive_journal", ("MQDMPR-3.1.1.12-D33",)),
    ("negative_journal", ("MQDMPR-3.1.1.12-D34",)),
    ("acks", ("MQDMPR-3.1.1.12-D37",)),
    ("admin_queue", ("MQDMPR-3.1.1.12-D36",)),
    ("response_queue", ("MQDMPR-3.1.1.12-D35",)),
    ("application_tag", ("MQDMPR-3.1.1.12-D38",)),
    ("body_base64", ("MQDMPR-3.1.1.12-D39",)),
    ("body_type", ("MQDMPR-3.1.1.12-D40",)),
    ("label", ("MQDMPR-3.1.1.12-D41",)),
    ("time_to_be_received_s", ("MQDMPR-3.1.1.12-D42",)),
    ("extension_base64", ("MQDMPR-3.1.1.12-D44",)),
    ("correlation_id", ("MQDMPR-3.1.1.12-D47",)),
    ("delivery", ("MQDMPR-3.1.1.12-19",)),
):
    register_property_rules(ComparisonDirection.SENT, _property, *_rules, only_omitted=True)

# -- a message that an application of the SUT reads, with the packet of the peer ---------------------------------------
for _properties, _rules in (
    ("priority trace_queue", ("MQDMPR-3.1.7.1.31-D01",)),
    (MESSAGE_PROPERTIES_HEADER_PROPERTIES, ("MQDMPR-3.1.7.1.31-D02",)),
    ("trace_queue", ("MQDMPR-3.1.7.1.31-D07",)),
    ("positive_journal", ("MQDMPR-3.1.7.1.31-D11",)),
    ("negative_journal", ("MQDMPR-3.1.7.1.31-D12",)),
    ("application_tag", ("MQDMPR-3.1.1.12-31",)),
    ("body_type", ("MQDMPR-3.1.1.12-33",)),
    ("correlation_id", ("MQDMPR-3.1.1.12-34", "MQMQ-2.2.19.3-13")),
    ("label", ("MQDMPR-3.1.1.12-46",)),
    ("extension_base64", ("MQDMPR-3.1.1.12-57",)),
):
    register_property_rules(ComparisonDirection.READ, _properties, *_rules)
