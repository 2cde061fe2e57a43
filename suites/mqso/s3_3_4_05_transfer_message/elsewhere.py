"""Checks of other sections that judge rules of MS-MQSO 3.3.4.5 Transfer Message."""

CHECKED_ELSEWHERE = {
    "MQSO-3.3.4.5-D05": ("test_what_could_not_be_delivered_is_kept_where_it_was_asked_for",),
}
