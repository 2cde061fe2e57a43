"""MS-MQQB 3.1.1.3: security settings that change while the queue manager runs, and their inspection."""

import pytest
from core_secure import PLAIN_2, manager, secure_pair

from reference_qm.surface.commands import Configure, OpenSession


def test_session_limit_is_returned_and_enforced():
    """The queue manager returns the session limit and refuses sessions beyond it. MS-MQQB 3.1.5.3.1, note <12>."""
    sender, receiver = secure_pair()
    assert receiver.ask(Configure())["max_sessions"] == 4096
    assert receiver.ask(Configure(max_sessions=0))["max_sessions"] == 0
    assert "no session was opened" in sender.refusal(OpenSession(PLAIN_2))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"quota_kb": 1 << 32}, "quota_kb: 4294967296 is outside 0"),
        ({"journal_quota_kb": -1}, "journal_quota_kb: -1 is outside 0"),
        ({"max_sessions": -1}, "max_sessions: -1 is outside 0"),
        ({"preferred_base": "des"}, "preferred_base: 'des' is not one of"),
        ({"user_cert_cache_size": 0}, "user_cert_cache_size: 0 is outside 1"),
        ({"user_cert_lifetime_ms": 1 << 31}, "user_cert_lifetime_ms: 2147483648 is outside 1"),
    ],
)
def test_contradictory_configuration_is_refused_without_effect(wrong, why):
    _, receiver = secure_pair()
    before = receiver.ask(Configure())
    assert why in receiver.refusal(Configure(send_insecure_nacks=True, **wrong))
    assert receiver.ask(Configure()) == before


def test_settings_survive_a_restart_and_caches_do_not():
    sender, _ = secure_pair()
    sender.ask(Configure(send_symmetric_key_cache_size=2))
    sender.send(PLAIN_2, privacy_level="advanced")
    assert len(manager(sender)["SendSymmetricKeyCache"]) == 1
    sender.restart()
    assert manager(sender)["SendSymmetricKeyCache"] == []
    assert sender.ask(Configure())["send_symmetric_key_cache_size"] == 2
