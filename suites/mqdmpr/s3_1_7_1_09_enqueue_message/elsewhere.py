"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.9 Enqueue Message."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.9-04": (
        "test_a_message_above_the_quota_of_the_queue_manager_closes_the_session",
        "test_what_is_in_a_subqueue_counts_for_the_queue_manager",
    ),
    "MQDMPR-3.1.7.1.9-07": ("test_a_message_above_the_quota_of_its_queue_is_refused",),
    "MQDMPR-3.1.7.1.9-09": ("test_a_message_is_peeked_then_received",),
    "MQDMPR-3.1.7.1.9-10": ("test_the_sequential_id_names_the_message",),
    "MQDMPR-3.1.7.1.9-14": ("test_the_front_of_the_queue_is_its_highest_priority",),
    "MQDMPR-3.1.7.1.9-15": ("test_a_message_that_was_not_received_in_time_leaves_its_queue",),
    "MQDMPR-3.1.7.1.9-17": ("test_what_is_sent_within_a_transaction_comes_when_that_commits",),
    "MQDMPR-3.1.7.1.9-18": ("test_what_is_sent_within_a_transaction_comes_when_that_commits",),
    "MQDMPR-3.1.7.1.9-21": ("test_what_is_sent_within_a_transaction_comes_when_that_commits",),
    "MQDMPR-3.1.7.1.9-23": ("test_a_read_with_a_time_out_waits_for_a_message",),
}
