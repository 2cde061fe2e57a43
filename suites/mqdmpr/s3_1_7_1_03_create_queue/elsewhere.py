"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.3 Create Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.3-05": ("test_path_names",),
    "MQDMPR-3.1.7.1.3-D04": (
        "test_private_queues_have_different_numbers",
        "test_private_queues_made_after_a_restart_have_numbers_of_their_own",
    ),
}
