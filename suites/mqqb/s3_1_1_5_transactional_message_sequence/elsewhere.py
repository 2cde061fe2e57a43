"""Checks of other sections that judge rules of MS-MQQB 3.1.1.5 Transactional Message Sequence."""

CHECKED_ELSEWHERE = {
    "MQQB-3.1.1.5-03": ("test_acknowledged_messages_are_gone_and_the_next_sequence_begins",),
    "MQQB-3.1.1.5-04": ("test_acknowledged_messages_are_gone_and_the_next_sequence_begins",),
    "MQQB-3.1.1.5-05": ("test_acknowledged_messages_are_gone_and_the_next_sequence_begins",),
    "MQQB-3.1.1.5-06": ("test_a_queue_manager_on_the_way_passes_transactional_messages_on",),
    "MQQB-3.1.1.5-07": ("test_a_queue_manager_on_the_way_passes_transactional_messages_on",),
}
