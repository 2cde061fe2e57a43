"""Checks of other sections that judge rules of MS-MQDMPR 3.1.1.2 Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.1.2-01": (
        "test_a_public_queue_is_in_the_directory_and_a_system_queue_is_not",
        "test_queues_are_as_they_were_after_a_restart",
    ),
    "MQDMPR-3.1.1.2-17": (
        "test_a_delivered_message_with_jp_is_journaled",
        "test_an_undelivered_message_with_jn_is_a_dead_letter",
    ),
    "MQDMPR-3.1.1.2-18": ("test_a_public_queue_is_in_the_directory_and_a_system_queue_is_not",),
    "MQDMPR-3.1.1.2-D01": ("test_queues_are_as_they_were_after_a_restart",),
    "MQDMPR-3.1.1.2-D03": ("test_a_message_above_the_quota_of_its_queue_is_refused",),
}
