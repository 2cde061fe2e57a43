"""MS-MQDMPR 3.1.7.1.24 Write Directory: the object of the queue manager itself."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from suites.mqdmpr.steps.directory import Enterprise

UPDATE_NOTIFICATION_OPERATION = "QueueManagerUpdate"
OWN_OBJECT_UPDATE_NOTIFICATION_RULES = ("MQDMPR-3.1.7.1.24-15", "MQDMPR-3.1.7.1.24-16")
PUBLIC_KEYS_ATTRIBUTE = "public_encryption_keys_base64"


@needs("directory", "environment", "inspect", "queue_control")
@covers(*OWN_OBJECT_UPDATE_NOTIFICATION_RULES)
def test_rewritten_public_keys_are_notified_once(peer, sut, judge):
    """The directory is available again, but has lost the SUT's public keys. The SUT writes the keys again and sends one
    change notification about this update.
    """
    enterprise = Enterprise(peer, sut)
    own_keys = enterprise.read_directory_object().get(PUBLIC_KEYS_ATTRIBUTE)
    if not own_keys:
        judge.mark_not_exercised(
            *OWN_OBJECT_UPDATE_NOTIFICATION_RULES, reason="the directory contains no public keys of the SUT"
        )
        return
    peer.call_at_end_of_test(lambda: sut.change_directory_object(**{PUBLIC_KEYS_ATTRIBUTE: own_keys}))
    marker = enterprise.create_queue()
    enterprise.go_offline()
    try:
        enterprise.change_directory_object_of_queue(**{PUBLIC_KEYS_ATTRIBUTE: ""})
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot delete the SUT's keys in the directory: {refused}")
        return
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    is_rewritten = enterprise.wait_for_condition_during_online_timers(
        lambda: enterprise.read_directory_object().get(PUBLIC_KEYS_ATTRIBUTE) == own_keys
    )
    notified = enterprise.list_change_notifications()
    since = max((at for at, (_, queue) in enumerate(notified) if queue == marker), default=len(notified))
    operations = [operation for operation, queue in notified[since:] if queue is None]
    if not is_rewritten:
        judge.mark_not_exercised(
            *OWN_OBJECT_UPDATE_NOTIFICATION_RULES,
            reason="the SUT does not write its keys again when the directory has lost them",
        )
        return
    judge("MQDMPR-3.1.7.1.24-15", expected=holds("the SUT raises a change notification"), observed=bool(operations))
    if operations:
        judge(
            "MQDMPR-3.1.7.1.24-16",
            expected=[UPDATE_NOTIFICATION_OPERATION],
            observed=operations,
            case="change notifications",
        )
    else:
        judge.mark_not_exercised("MQDMPR-3.1.7.1.24-16", reason="the SUT raised no change notification")
