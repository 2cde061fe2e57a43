"""MS-MQDMPR 3.1.7.1.19 Delete Directory Object: DirectoryOffline and change notifications."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqdmpr.steps.directory import Enterprise

OFFLINE = {
    "create_queue": ("MQDMPR-3.1.7.1.18-D03",),
    "delete_queue": ("MQDMPR-3.1.7.1.19-09", "MQDMPR-3.1.7.1.19-10"),
    "set_queue": ("MQDMPR-3.1.7.1.24-05", "MQDMPR-3.1.7.1.24-06"),
}
"""By verb: the rule of DirectoryOffline, and that of the timer where it is another."""


@needs("directory", "environment", "set_timers", "queue_control", "inspect")
@covers(*(rule for rules in OFFLINE.values() for rule in rules))
def test_failed_directory_change_sets_directory_offline(peer, sut, judge):
    """A creation, deletion or change of a public queue without the directory sets DirectoryOffline, and the SUT is
    online again when the directory is back and the timer has expired.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.create_queue()
    changes = {
        "create_queue": {"name": enterprise.new_path_name()},
        "delete_queue": {},
        "set_queue": {"label": "other"},
    }
    for verb, arguments in changes.items():
        sut.change_environment(directory=False)
        sut.attempt(verb, **({"name": name} | arguments))
        offline = enterprise.is_offline()
        sut.change_environment(directory=True)
        back = enterprise.await_online()
        rules = OFFLINE[verb]
        judge(rules[0], expected={"DirectoryOffline": True}, observed={"DirectoryOffline": offline}, case=verb)
        judge(rules[-1], expected=holds("online again", otherwise="offline"), observed=back, case=verb)


NOTIFIED = {
    "QueueCreation": ("MQDMPR-3.1.7.1.18-D01",),
    "QueueUpdate": ("MQDMPR-3.1.7.1.24-11", "MQDMPR-3.1.7.1.24-12"),
    "QueueDeletion": ("MQDMPR-3.1.7.1.19-03", "MQDMPR-3.1.7.1.19-04"),
}


@needs("directory", "queue_control", "inspect")
@covers(*(rule for rules in NOTIFIED.values() for rule in rules))
def test_each_change_of_public_queue_is_notified_once(peer, sut, judge):
    """The creation, the change and the deletion of a public queue each cause one change notification of their
    operation.
    """
    enterprise = Enterprise(peer, sut)
    name = enterprise.new_path_name()
    sut.attempt(sut.create_queue, name)
    sut.attempt("set_queue", name=name, label="other")
    sut.attempt(sut.delete_queue, name)
    made = [operation for operation, queue in enterprise.list_notifications() if queue == name]
    for operation, rules in NOTIFIED.items():
        judge(*rules, expected=[operation], observed=[one for one in made if one == operation])
