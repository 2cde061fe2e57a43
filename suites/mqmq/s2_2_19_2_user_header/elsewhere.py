"""Checks of other sections that judge rules of MS-MQMQ 2.2.19.2 UserHeader."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.19.2-D01": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQMQ-2.2.19.2-D02": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
}
