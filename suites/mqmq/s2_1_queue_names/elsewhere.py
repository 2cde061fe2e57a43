"""Checks of other sections that judge rules of MS-MQMQ 2.1 Queue names."""

CHECKED_ELSEWHERE = {
    "MQMQ-2.1.7-D02": ("test_without_the_directory_no_list_is_sent_to",),
}
