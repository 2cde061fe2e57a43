"""Checks of other sections that judge rules of MS-MQMQ 2.2.18.1 Packet data types."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.2.18-D01": (
        "test_an_acknowledgment_field_by_field",
        "test_an_express_message_field_by_field",
        "test_the_time_to_reach_the_queue_is_sent_in_seconds",
    ),
    "MQMQ-2.2.18.1.3-D01": ("test_an_acknowledgment_field_by_field",),
    "MQMQ-2.2.18.1.4.1-D01": ("test_every_queue_gets_a_copy_that_lists_all_of_them",),
    "MQMQ-2.2.18.1.5.1-01": ("test_messages_to_a_private_name",),
    "MQMQ-2.2.18.1.5.2-D01": (
        "test_a_direct_destination_is_counted_and_padded",
        "test_an_acknowledgment_field_by_field",
    ),
    "MQMQ-2.2.18.1.5.2-D02": (
        "test_a_direct_destination_is_counted_and_padded",
        "test_an_acknowledgment_field_by_field",
    ),
    "MQMQ-2.2.18.1.6-01": ("test_an_order_ack_names_the_last_message_in_order",),
    "MQMQ-2.2.18.1.7.2-D01": ("test_names_of_different_kinds_stand_in_one_list",),
}
