"""Checks of other sections that judge rules of MS-MQQB 3.1.1.3 Queue Manager State."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.1.3-02": ("test_a_verified_certificate_is_cached",),
    "MQQB-3.1.1.3-03": ("test_a_verified_certificate_is_cached",),
    "MQQB-3.1.1.3-04": ("test_the_oldest_half_leaves_a_full_cache_of_certificates",),
    "MQQB-3.1.1.3-05": ("test_a_verified_certificate_is_cached",),
    "MQQB-3.1.1.3-06": ("test_the_key_of_a_received_message_is_cached",),
    "MQQB-3.1.1.3-07": ("test_the_key_of_a_received_message_is_cached",),
    "MQQB-3.1.1.3-09": ("test_the_oldest_half_leaves_a_full_cache_of_keys",),
    "MQQB-3.1.1.3-10": ("test_keys_that_were_made_are_cached",),
    "MQQB-3.1.1.3-11": ("test_keys_that_were_made_are_cached",),
    "MQQB-3.1.1.3-13": ("test_keys_that_were_made_are_cached",),
    "MQQB-3.1.1.3-14": (
        "test_keys_that_were_made_are_cached",
        "test_the_key_of_a_received_message_is_cached",
    ),
    "MQQB-3.1.1.3-16": ("test_bodies_are_encrypted_as_asked",),
    "MQQB-3.1.1.3-17": ("test_bodies_are_encrypted_as_asked",),
    "MQQB-3.1.1.3-18": ("test_enhanced_rc2_keys_are_cut_when_configured",),
    "MQQB-3.1.1.3-19": ("test_rc2_with_40_bits_is_rejected_when_configured",),
    "MQQB-3.1.1.3-21": ("test_the_history_is_cleaned_up_after_a_restart_only_if_there_is_one",),
    "MQQB-3.1.1.3-26": ("test_each_ping_has_the_next_cookie",),
    "MQQB-3.1.1.3-28": ("test_what_the_queue_manager_begins_with",),
    "MQQB-3.1.1.3-29": ("test_what_the_queue_manager_begins_with",),
    "MQQB-3.1.1.3-30": ("test_what_the_queue_manager_begins_with",),
    "MQQB-3.1.1.3-31": ("test_what_the_queue_manager_begins_with",),
    "MQQB-3.1.1.3.2-01": ("test_messages_that_must_survive_are_sent_after_a_restart",),
    "MQQB-3.1.1.3.2-02": (
        "test_messages_are_sent_after_a_restart_as_they_were_before",
        "test_messages_that_must_survive_are_sent_after_a_restart",
    ),
}
