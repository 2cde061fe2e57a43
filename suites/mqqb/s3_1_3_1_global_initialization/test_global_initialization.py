"""MS-MQQB 3.1.3.1 Global Initialization, and the elements of 3.1.1.3 that a restart does not change."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, fields, holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.sut.releases import find_release
from harness.wire.protection import RC2, RC4
from suites.mqqb.steps.caching import (
    ADVANCED_PRIVACY_LEVEL,
    BASE_PRIVACY_LEVEL,
    ENHANCED_PRIVACY_LEVEL,
    SecurityCaches,
    fill_security_caches,
)
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.secured import CLEAR_BODY, SYMMETRIC_KEYS, SecuredMessageSender, encrypt_message, sign_message
from suites.mqqb.steps.sequences import SequenceSentBySut

PERSISTENT_ELEMENT_BY_RULE = {
    "MQQB-3.1.1.3-28": "ResendTimeoutsShort",
    "MQQB-3.1.1.3-29": "ResendTimeoutsMedium",
    "MQQB-3.1.1.3-30": "ResendTimeoutsLong",
    "MQQB-3.1.1.3-31": "ResendTimeoutsFinal",
}
"""Elements that a restart does not change, by rule."""
RULE_TIMEOUT_AND_SLICE_OF_RESEND_TIMER_TABLE = (
    ("MQQB-3.1.3.1-02", "ResendTimeoutsShort", slice(0, 3)),
    ("MQQB-3.1.3.1-03", "ResendTimeoutsMedium", slice(3, 6)),
    ("MQQB-3.1.3.1-04", "ResendTimeoutsLong", slice(6, 9)),
    ("MQQB-3.1.3.1-05", "ResendTimeoutsFinal", slice(9, 10)),
)
"""Entries of ResendTimerTable: the rule, the element that the entries equal, and the indices of the entries."""
EMPTY_CACHE_BY_RULE = {
    "MQQB-3.1.3.1-08": "UserCertCache",
    "MQQB-3.1.3.1-11": "ReceiveSymmetricKeyCache",
    "MQQB-3.1.3.1-12": "ReceiveBaseSymmetricKeyCache",
    "MQQB-3.1.3.1-14": "SendSymmetricKeyCache",
    "MQQB-3.1.3.1-15": "SendBaseSymmetricKeyCache",
}
"""Caches that are empty after a start, by rule."""
DEFAULT_SETTING_BY_RULE = {
    "MQQB-3.1.3.1-09": ("UserCertCacheSize", 53),
    "MQQB-3.1.3.1-10": ("UserCertLifetime", 1_200_000),
    "MQQB-3.1.3.1-13": ("ReceiveSymmetricKeyCacheSize", 127),
    "MQQB-3.1.3.1-16": ("SendSymmetricKeyCacheSize", 53),
    "MQQB-3.1.3.1-17": ("SymmetricKeyShortLifetime", 600_000),
    "MQQB-3.1.3.1-18": ("SymmetricKeyLongLifetime", 43_200_000),
    "MQQB-3.1.3.1-19": ("PreferredAdvancedAlgorithm", 0x6610),
    "MQQB-3.1.3.1-20": ("PreferredEnhancedAlgorithm", 0x6801),
    "MQQB-3.1.3.1-21": ("PreferredBaseAlgorithm", 0x6801),
    "MQQB-3.1.3.1-22": ("SendEnhancedRC2Using40BitKeys", False),
    "MQQB-3.1.3.1-23": ("RejectEnhancedRC2Using40BitKeys", False),
}
CACHES_OF_RECEIVER_WITH_RULES = (
    (SecurityCaches.CERTIFICATE_CACHE, "MQQB-3.1.3.1-08", "MQQB-3.1.3.1-10", 1_200_000),
    (SecurityCaches.RECEIVED_KEY_CACHE, "MQQB-3.1.3.1-11", "MQQB-3.1.3.1-17", 600_000),
)
"""The caches of received messages: for each cache, the rule that the cache is empty, the rule about its lifetime, and
the lifetime in ms.
"""
UNREACHABLE_FORMAT_NAME = "DIRECT=TCP:192.0.2.7\\private$\\mqc-peer"
"""A format name with an address that is reserved for documentation, so that no system has it (RFC 5737)."""
MESSAGE_LIFETIME_S = 60
HISTORY_TIMER_NAME = "MessageIDHistoryCleanup"
HISTORY_TIMER_MS = 20_000
"""The duration of the MessageIDHistory Cleanup Timer in the check. The duration is so short that the history becomes
empty.
"""
SECONDS_PER_DAY = 86_400
CHANGED_SYMMETRIC_KEY_SHORT_LIFETIME_MS = 300_000
"""A SymmetricKeyShortLifetime in ms that is not the default."""


def _read_queue_manager_state(sut):
    return sut.inspect()["QueueManager"]


@needs("inspect", "restart")
@covers(
    *PERSISTENT_ELEMENT_BY_RULE,
    *(rule for rule, *_ in RULE_TIMEOUT_AND_SLICE_OF_RESEND_TIMER_TABLE),
    *EMPTY_CACHE_BY_RULE,
    *DEFAULT_SETTING_BY_RULE,
    "MQQB-3.1.4.1-01",
)
def test_queue_manager_starts_with_specified_elements(peer, sut, judge):
    """After a restart with a stored message, the resend times are unchanged, ResendTimerTable consists of these times,
    and the caches are empty.

    The sizes, lifetimes and algorithms of the caches have their default values.
    """
    peer.open_raw().require_session_ack_for_message()  # so that the disk is not empty at the restart
    before_restart = _read_queue_manager_state(sut)
    sut.restart()
    after_restart = _read_queue_manager_state(sut)
    for rule, name in PERSISTENT_ELEMENT_BY_RULE.items():
        judge(
            rule,
            expected=fields({name: read_data_model_element(before_restart, name)}),
            observed={name: read_data_model_element(after_restart, name)},
        )
    table = read_data_model_element(after_restart, "ResendTimerTable")
    for rule, name, entries in RULE_TIMEOUT_AND_SLICE_OF_RESEND_TIMER_TABLE:
        timeouts = [read_data_model_element(after_restart, name)] * (entries.stop - entries.start)
        judge(rule, expected=timeouts, observed=table[entries], case="entries of ResendTimerTable")
    counts = {
        "number of entries of ResendTimerTable": len(table),
        "number of entries of the caches": sum(
            len(read_data_model_element(after_restart, name)) for name in EMPTY_CACHE_BY_RULE.values()
        ),
    }
    judge(
        "MQQB-3.1.4.1-01",
        expected=fields({"number of entries of ResendTimerTable": 10, "number of entries of the caches": 0}),
        observed=counts,
    )
    judge("MQQB-3.1.4.1-01", expected=fields(PingCookie=0), observed={"PingCookie": after_restart.get("PingCookie", 0)})
    for rule, name in EMPTY_CACHE_BY_RULE.items():
        judge(
            rule,
            expected=0,
            observed=len(read_data_model_element(after_restart, name)),
            case=f"number of entries of {name}",
        )
    for rule, (name, expected) in DEFAULT_SETTING_BY_RULE.items():
        judge(rule, expected=fields({name: expected}), observed={name: read_data_model_element(after_restart, name)})


@needs("security", "receive", "configure", "inspect", "restart")
@covers(
    "MQQB-3.1.3.1-08",
    "MQQB-3.1.3.1-10",
    "MQQB-3.1.3.1-11",
    "MQQB-3.1.3.1-17",
    "MQQB-3.1.3.1-18",
    "MQQB-3.1.3.1-23",
)
def test_filled_caches_are_empty_after_restart(peer, sut, judge):
    """The SUT receives a signed and encrypted message before and after a restart. UserCertCache and
    ReceiveSymmetricKeyCache are empty after the restart, and their later entries have the default lifetimes. A message
    with a 40-bit RC2 key arrives both before and after the restart. SymmetricKeyLongLifetime is 12 hours, although a
    different SymmetricKeyShortLifetime is configured.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)

    def fill_security_caches():
        clear = sign_message(secured.message(body=CLEAR_BODY, PrivacyLevel=ENHANCED_PRIVACY_LEVEL))
        packet = encrypt_message(sut, clear, ENHANCED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128])
        frames = secured.send_and_read_dispositions({"": packet})[""].frames
        if not all(caches.entries(name) for name, *_ in CACHES_OF_RECEIVER_WITH_RULES):
            raise ConformanceFailure("the message has no entry in the caches")
        return frames

    def send_weak_key():
        key = SYMMETRIC_KEYS[40] + bytes(11)
        packet = encrypt_message(sut, secured.message(body=CLEAR_BODY), ENHANCED_PRIVACY_LEVEL, RC2, key)
        return secured.send_and_read_dispositions({"": packet})[""]

    first = fill_security_caches()
    weak = [send_weak_key()]
    sut.restart()
    for name, rule, *_ in CACHES_OF_RECEIVER_WITH_RULES:
        judge(rule, expected=0, observed=len(caches.entries(name)), case=f"number of entries of {name}", evidence=first)
        judge.conclude(rule)
    secured.connection = peer.open_raw()
    second = fill_security_caches()
    for name, _, rule, lifetime_ms in CACHES_OF_RECEIVER_WITH_RULES:
        due_ms = sut.duration_ms(lifetime_ms)
        expected = between(due_ms - sut.slack_ms(lifetime_ms) - 2 * sut.response_timeout_ms, due_ms)
        left_ms = caches.get_remaining_ms(name)
        judge(rule, expected=expected, observed=left_ms, case=f"remaining ms of the timer of {name}", evidence=second)
    weak.append(send_weak_key())
    sut.configure(symmetric_key_short_lifetime_ms=CHANGED_SYMMETRIC_KEY_SHORT_LIFETIME_MS)
    long_lifetime = "SymmetricKeyLongLifetime"
    judge(
        "MQQB-3.1.3.1-18",
        expected=fields({long_lifetime: DEFAULT_SETTING_BY_RULE["MQQB-3.1.3.1-18"][1]}),
        observed={long_lifetime: read_data_model_element(_read_queue_manager_state(sut), long_lifetime)},
        case="with a different SymmetricKeyShortLifetime",
    )
    judge(
        "MQQB-3.1.3.1-23",
        expected=["stored in its queue"] * 2,
        observed=[one.kept for one in weak],
        case="messages with a 40-bit RC2 key before and after the restart",
        evidence=[frame for one in weak for frame in one.frames],
    )


def _restart_sut(sut):
    sut.restart()


def _stop_and_start_service(sut):
    sut.change_environment(service=False)
    sut.change_environment(service=True)


@needs("security", "receive", "configure", "inspect", "send", "private_names", "restart")
@covers(*EMPTY_CACHE_BY_RULE)
@pytest.mark.parametrize(
    "start",
    [_restart_sut, pytest.param(_stop_and_start_service, marks=needs("environment"))],
    ids=["restart", "stop and start"],
)
def test_keys_of_every_provider_are_forgotten_at_start(peer, sut, judge, start):
    """The peer sends signed and encrypted messages, and the SUT sends encrypted messages, with keys of the Base,
    Enhanced and Advanced providers. The SUT is restarted, or is stopped and started. Afterwards, no security cache of
    the SUT has an entry.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    levels = (
        (BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, ADVANCED_PRIVACY_LEVEL)
        if find_release(sut).has_aes_provider
        else (BASE_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL)
    )
    evidence = [frame for level in levels for frame in fill_security_caches(secured, ALICE, level)]
    filled = [name for name in EMPTY_CACHE_BY_RULE.values() if caches.entries(name)]
    if not {SecurityCaches.CERTIFICATE_CACHE, SecurityCaches.RECEIVED_KEY_CACHE} <= set(filled):
        raise ConformanceFailure("the messages have no entry in the caches")
    start(sut)
    for rule, name in EMPTY_CACHE_BY_RULE.items():
        count = len(caches.entries(name))
        judge(rule, expected=0, observed=count, case=f"number of entries of {name}", evidence=evidence)


@needs("inspect", "restart", "send", "transactions")
@covers(*PERSISTENT_ELEMENT_BY_RULE)
@pytest.mark.parametrize(
    "start",
    [_restart_sut, pytest.param(_stop_and_start_service, marks=needs("environment"))],
    ids=["restart", "stop and start"],
)
def test_resend_times_are_unchanged_by_start_with_unacknowledged_sequence(peer, sut, judge, start):
    """The SUT has one unacknowledged recoverable message and two unacknowledged transactional messages for queues of
    the peer. The SUT is restarted, or is stopped and started. The resend times are unchanged.
    """
    outgoing = SequenceSentBySut(peer, sut)
    evidence = [*outgoing.send(2), *outgoing.start_second_sequence("mqc-other").send(delivery="recoverable")]
    before = _read_queue_manager_state(sut)
    start(sut)
    after = _read_queue_manager_state(sut)
    for rule, name in PERSISTENT_ELEMENT_BY_RULE.items():
        judge(
            rule,
            expected=fields({name: read_data_model_element(before, name)}),
            observed={name: read_data_model_element(after, name)},
            evidence=evidence,
        )
    judge.conclude(*PERSISTENT_ELEMENT_BY_RULE)
    outgoing.await_session()
    outgoing.acknowledge_all()


@needs("inspect", "restart", "environment")
@covers("MQQB-3.1.3.1-07")
def test_history_cleanup_timer_runs_after_restart_with_outdated_history(peer, sut, judge):
    """The SUT receives a message, its clock is set a day forward, and it restarts. The cleanup timer of
    MessageIDHistoryTable runs if the table still contains an entry.
    """
    session = peer.open_raw()
    session.require_session_ack_for_message()
    sut.change_environment(clock=SECONDS_PER_DAY)
    sut.restart()
    manager = _read_queue_manager_state(sut)
    if not read_data_model_element(manager, "MessageIDHistoryTable"):
        judge.mark_not_exercised("MQQB-3.1.3.1-07", reason="the SUT starts without outdated entries of the history")
        return
    judge(
        "MQQB-3.1.3.1-07",
        expected=RUNNING_TIMER_EXPECTATION,
        observed=_is_history_timer_running(manager),
        case="MessageIDHistory Cleanup Timer with outdated entries",
        evidence=session.sent[-1],
    )


@needs("inspect", "restart", "set_timers")
@covers("MQQB-3.1.3.1-06", "MQQB-3.1.3.1-07", "MQQB-3.1.1.3-21", "MQQB-3.1.4.1-01")
def test_history_cleanup_timer_runs_after_restart_only_with_history(peer, sut, judge):
    """After a restart with an entry in MessageIDHistoryTable, the cleanup timer of the table runs. After a restart with
    an empty table, it does not run, even if a message waits to be sent.
    """
    sut.set_timers(message_id_history_cleanup_ms=HISTORY_TIMER_MS)
    session = peer.open_raw()
    session.require_session_ack_for_message()
    sent = session.sent[-1]
    sut.restart()
    manager = _read_queue_manager_state(sut)
    if not read_data_model_element(manager, "MessageIDHistoryTable"):
        raise ConformanceFailure("the SUT has forgotten the message that it received before the restart (note <25>)")
    judge(
        "MQQB-3.1.3.1-07",
        "MQQB-3.1.4.1-01",
        expected=RUNNING_TIMER_EXPECTATION,
        observed=_is_history_timer_running(manager),
        case="MessageIDHistory Cleanup Timer with entries in the history",
        evidence=sent,
    )
    judge.conclude("MQQB-3.1.3.1-07", "MQQB-3.1.4.1-01")
    if not _await_empty_history(peer, sut) and sut.has("environment"):
        sut.change_environment(clock=SECONDS_PER_DAY)  # entries of the fast clock are old then
        _await_empty_history(peer, sut)
        sut.change_environment(clock=0)
    if read_data_model_element(_read_queue_manager_state(sut), "MessageIDHistoryTable"):
        judge.mark_not_exercised(
            "MQQB-3.1.1.3-21",
            "MQQB-3.1.3.1-06",
            reason="the SUT's MessageIDHistoryTable did not become empty: other systems may be sending to the SUT",
        )
        return
    if sut.has("send"):
        sut.send(UNREACHABLE_FORMAT_NAME, delivery="recoverable", time_to_reach_queue_s=MESSAGE_LIFETIME_S)
    sut.restart()
    manager = _read_queue_manager_state(sut)
    entries = len(read_data_model_element(manager, "MessageIDHistoryTable"))
    judge("MQQB-3.1.1.3-21", expected=0, observed=entries, case="number of entries in the history", evidence=sent)
    if entries:
        raise ConformanceFailure("the SUT's MessageIDHistoryTable is not empty after the restart")
    judge(
        "MQQB-3.1.3.1-06",
        expected=STOPPED_TIMER_EXPECTATION,
        observed=not _is_history_timer_running(manager),
        case="MessageIDHistory Cleanup Timer with an empty history",
        evidence=sent,
    )
    if sut.has("receive"):
        label = "first message after the start"
        first = peer.open_raw().send(peer.recoverable_message({"MessageID": 1}, label=label))
        judge(
            "MQQB-3.1.1.3-21",
            expected=holds("the message is in its queue", otherwise="the message is not in its queue"),
            observed=peer.await_label(label, sut.queue()),
            case="first message after a start with an empty history",
            evidence=first,
        )


def _await_empty_history(peer, sut):
    for _ in range(4):
        peer.pass_time(sut.duration_ms(HISTORY_TIMER_MS) + sut.slack_ms(HISTORY_TIMER_MS))
        if not read_data_model_element(_read_queue_manager_state(sut), "MessageIDHistoryTable"):
            return True
    return False


RUNNING_TIMER_EXPECTATION = holds("running", otherwise="stopped")
STOPPED_TIMER_EXPECTATION = holds("stopped", otherwise="running")


def _is_history_timer_running(manager):
    return read_data_model_element(read_data_model_element(manager, "timers"), HISTORY_TIMER_NAME) is not None
