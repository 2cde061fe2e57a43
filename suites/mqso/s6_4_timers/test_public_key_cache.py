"""MS-MQSO 6.4.3.2 Queue Manager Public Key Cache Validity Timer."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.provisioning import load_peer_keys, load_second_peer_keys
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opened_bodies import DecryptedMessage
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.published_keys import publish_public_keys_of_queue_manager, restore_public_keys_at_end_of_check

CACHE_DURATION_MS = 60_000
PUBLIC_KEYS_BY_NAME = {"first keys": load_peer_keys, "second keys": load_second_peer_keys}


def _find_recipient_key_name(frame: Frame) -> str:
    """Return the name of the peer's keys with which a message was encrypted."""
    return (
        ", ".join(name for name, keys in PUBLIC_KEYS_BY_NAME.items() if DecryptedMessage(frame, keys()).key is not None)
        or "neither"
    )


@needs("directory", "environment", "security", "send", "private_names", "set_timers")
@covers("MQSO-6.4.3.2-D01", "MQSO-6.4.3.2-D02")
def test_expired_public_keys_are_read_from_directory_again(peer, sut, judge):
    """The peer's public keys in the directory are changed, and later changed back. After each change, the SUT encrypts
    with the keys that the directory then contains as soon as the cache timer has expired. Each message has a different
    privacy level, so that no symmetric key is used twice.
    """
    outgoing = MessagesSentBySut(peer, sut, private_name(peer.identifier))
    sut.set_timers(public_key_cache_ms=CACHE_DURATION_MS)
    with restore_public_keys_at_end_of_check(sut, peer.identifier):
        frame = outgoing.send(body="first", privacy_level="base")
        if _find_recipient_key_name(frame) != "first keys":
            raise ConformanceFailure(
                f"before any change, the SUT encrypts with these keys of the peer: {_find_recipient_key_name(frame)}"
            )
        for level, name in (("enhanced", "second keys"), ("advanced", "first keys")):
            publish_public_keys_of_queue_manager(sut, peer.identifier, PUBLIC_KEYS_BY_NAME[name]())
            began_ms = peer.recorder.elapsed_ms()
            outgoing.start_new_session()
            peer.pass_time_until(began_ms, sut.duration_ms(CACHE_DURATION_MS) * 3 // 4)
            outgoing.send(body="uses the cached keys", privacy_level="base")
            outgoing.start_new_session()
            expiry_ms = sut.duration_ms(CACHE_DURATION_MS) + sut.slack_ms(CACHE_DURATION_MS) + sut.response_timeout_ms
            peer.pass_time_until(began_ms, expiry_ms)
            frame = outgoing.send(body=name, privacy_level=level)
            judge.all(
                expected=name,
                observed=_find_recipient_key_name(frame),
                evidence=frame,
                case="keys of the encrypted message",
            )
        outgoing.end()
