"""Checks of other sections that judge rules of MS-MQQP 3.1.3 Initialization."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.3-01": ("test_ports_are_told_where_the_interfaces_are_served",),
}
