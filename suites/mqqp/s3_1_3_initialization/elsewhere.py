"""Checks of other sections that judge rules of MS-MQQP 3.1.3 Initialization."""

CHECKED_ELSEWHERE = {
    "MQQP-3.1.3-01": (
        "test_after_a_restart_the_interface_is_served_again",
        "test_at_the_port_that_is_told_the_interface_is_served",
    ),
}
