"""Checks of other sections that judge rules of MS-MQDMPR 3.1.7.1.5 Open Queue."""

CHECKED_ELSEWHERE = {
    "MQDMPR-3.1.7.1.5-03": (
        "test_a_message_names_the_queues_of_a_list_and_not_the_list",
        "test_a_queue_that_is_named_more_than_once_is_one_queue",
    ),
    "MQDMPR-3.1.7.1.5-06": (
        "test_a_message_names_the_queues_of_a_list_and_not_the_list",
        "test_a_queue_that_is_named_more_than_once_is_one_queue",
    ),
    "MQDMPR-3.1.7.1.5-24": ("test_every_queue_of_a_list_is_opened_once",),
    "MQDMPR-3.1.7.1.5-33": ("test_every_queue_of_a_list_is_opened_once",),
    "MQDMPR-3.1.7.1.5-64": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-65": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-68": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-71": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-86": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-87": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-90": ("test_a_public_name_leads_to_the_queue_manager_of_its_queue",),
    "MQDMPR-3.1.7.1.5-97": ("test_in_hardened_security_mode_nothing_is_transferred",),
}
