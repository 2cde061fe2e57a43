"""The path of one recoverable message through the core is short: the test limits the number of calls, not the time."""

from benchmarks.walk import Walk, walk_message


def test_code_path_of_one_message_has_few_calls_in_few_files():
    received, persisted = walk_message()
    whole = Walk([*received.hops, *persisted.hops])
    assert len(whole.hops) <= 130, whole
    assert whole.files <= 30, whole
    assert whole.changes <= 80, whole


def test_code_path_of_one_message_repeats_no_step():
    received, persisted = walk_message()
    repeated = {
        "parse_framed_packet",
        "measure_packet",
        "deserialize_message",
        "SessionAcks.flag_recoverable_messages",
        "build_message_entry",
    }
    functions = [hop.function for walk in (received, persisted) for hop in walk.hops]
    assert {name: functions.count(name) for name in repeated} == dict.fromkeys(repeated, 1)
