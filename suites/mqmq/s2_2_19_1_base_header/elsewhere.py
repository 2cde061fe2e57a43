"""Checks of other sections that judge rules of MS-MQMQ 2.2.19.1 BaseHeader."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.19.1-12": (
        "test_a_traced_message_field_by_field",
        "test_a_traced_message_that_is_sent_is_reported",
    ),
}
