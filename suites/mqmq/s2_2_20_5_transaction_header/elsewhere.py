"""Checks of other sections that judge rules of MS-MQMQ 2.2.20.5 TransactionHeader."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.20.5-D01": ("test_a_transactional_message_field_by_field",),
}
