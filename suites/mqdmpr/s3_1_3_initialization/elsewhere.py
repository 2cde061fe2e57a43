"""Checks of other sections that judge rules of MS-MQDMPR 3.1.3 Initialization."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.3-06": ("test_a_machine_that_comes_into_a_domain_is_in_directory_mode",),
    "MQDMPR-3.1.3-10": ("test_a_machine_that_comes_into_a_domain_is_in_directory_mode",),
    "MQDMPR-3.1.3-21": ("test_published_keys_are_those_that_decrypt",),
    "MQDMPR-3.1.3-22": ("test_published_keys_are_those_that_decrypt",),
    "MQDMPR-3.1.3-23": ("test_published_keys_are_those_that_decrypt",),
    "MQDMPR-3.1.3-28": ("test_each_order_ack_moves_the_transfer_info_on",),
    "MQDMPR-3.1.3-30": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQDMPR-3.1.3-D02": ("test_a_machine_that_comes_into_a_domain_is_in_directory_mode",),
    "MQDMPR-3.1.3-D04": ("test_the_time_between_attempts_to_begin_is_kept",),
    "MQDMPR-3.1.3-D15": ("test_what_was_prepared_before_a_restart_is_decided_after_it",),
    "MQDMPR-3.1.3-D16": ("test_what_transactions_did_and_did_not_do_stays_after_a_restart",),
}
