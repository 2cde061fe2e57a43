"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.1 Open Cursor, 3.1.7.1.2 Close Cursor."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.1-04": ("test_a_deleted_queue_is_gone_and_its_name_is_free",),
    "MQDMPR-3.1.7.1.2-06": (
        "test_a_closed_cursor_is_gone_and_another_is_not",
        "test_the_cursors_of_a_closed_opening_are_closed",
    ),
}
