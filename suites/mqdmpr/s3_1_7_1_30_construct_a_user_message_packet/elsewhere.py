"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.30 Construct a UserMessage Packet."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.30-03": (
        "test_a_traced_message_field_by_field",
        "test_a_transactional_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.30-04": ("test_a_message_carries_the_acknowledgment_that_is_nearly_due",),
    "MQDMPR-3.1.7.1.30-05": (
        "test_a_traced_message_field_by_field",
        "test_a_transactional_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.30-06": (
        "test_a_traced_message_field_by_field",
        "test_a_transactional_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.30-D01": ("test_a_transactional_message_field_by_field",),
    "MQDMPR-3.1.7.1.30-D02": ("test_messages_are_signed_as_asked",),
    "MQDMPR-3.1.7.1.30-D03": (
        "test_a_transactional_message_field_by_field",
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.30-D04": (
        "test_a_traced_message_field_by_field",
        "test_an_express_message_field_by_field",
    ),
    "MQDMPR-3.1.7.1.30-D05": (
        "test_a_message_for_one_queue_has_no_list",
        "test_every_queue_gets_a_copy_that_lists_all_of_them",
    ),
}
