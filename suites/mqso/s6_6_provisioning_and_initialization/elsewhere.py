"""Checks of other sections that judge rules of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

CHECKED_ELSEWHERE = {
    "MQSO-6.6.1-D05": ("test_what_a_queue_manager_is_by_default",),
    "MQSO-6.6.1-D07": ("test_it_listens_for_sessions_pings_and_remote_calls",),
    "MQSO-6.6.2-01": ("test_sessions_are_served_after_a_restart",),
    "MQSO-6.6.2-02": ("test_sessions_are_served_after_a_restart",),
    "MQSO-6.6.2-03": ("test_in_another_domain_it_gets_an_object_and_is_what_that_says",),
    "MQSO-6.6.2-04": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-6.6.2-05": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-6.6.2-D01": ("test_without_a_directory_it_starts_in_workgroup_mode",),
    "MQSO-6.6.2-D02": ("test_a_machine_that_comes_into_a_domain_is_in_directory_mode",),
    "MQSO-6.6.2-D03": ("test_a_machine_that_left_its_domain_is_in_workgroup_mode",),
    "MQSO-6.6.2-D04": ("test_in_another_domain_it_gets_an_object_and_is_what_that_says",),
    "MQSO-6.6.2-D06": ("test_sessions_are_served_after_a_restart",),
    "MQSO-6.6.2-D07": ("test_sessions_are_served_after_a_restart",),
    "MQSO-6.6.2-D08": ("test_a_store_beyond_repair_stops_it_until_somebody_repairs_it",),
    "MQSO-6.6.2-D09": ("test_later_attempts_are_further_apart",),
}
