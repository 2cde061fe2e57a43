"""MS-MQDMPR 3.1.7.1.26 Get Queue Path: the path name and the computer of a format name."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import each, holds
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.sut_file import (
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
)
from suites.mqdmpr.steps.directory import Enterprise

OK_STATUS, ILLEGAL_NAME_STATUS = "MQ_OK", "MQ_ERROR_ILLEGAL_FORMATNAME"
UNKNOWN_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000f6")
MISSING_PRIVATE_QUEUE_NUMBER = 0xFFF0_0000
"""A number that no private queue has."""
PATH_BY_DIRECT_NAME = {
    r"DIRECT=TCP:127.0.0.9\PRIVATE$\orders": (r"127.0.0.9\PRIVATE$\orders", "127.0.0.9"),
    r"DIRECT=OS:nowhere.example\orders": (r"nowhere.example\orders", "nowhere.example"),
    r"DIRECT=OS:nowhere\PRIVATE$\orders;JOURNAL": (r"nowhere\PRIVATE$\orders;JOURNAL", "nowhere"),
    r"DIRECT=os:nowhere.example\PRIVATE$\orders;late": (r"nowhere.example\PRIVATE$\orders;late", "nowhere.example"),
    r"direct=tcp:127.0.0.9\orders": (r"127.0.0.9\orders", "127.0.0.9"),
    r"DIRECT=OS:nowhere\SYSTEM$;DEADLETTER": (r"nowhere\SYSTEM$;DEADLETTER", "nowhere"),
}
PATH_BY_HTTP_NAME = {
    r"DIRECT=HTTP://web.example/msmq\PRIVATE$\orders": "web.example",
    r"DIRECT=HTTPS://web.example/msmq\orders": "web.example",
    r"DIRECT=HTTPS://secure.example:8443/msmq\orders": "secure.example",
}


def _get_queue_path_result(sut, name):
    answer = sut.control.call("get_queue_path", format_name=name)
    return {"status": answer["status"], "path": answer["path"].lower(), "machine": answer["machine"].lower()}


@needs("get_queue_path")
@covers(
    "MQDMPR-3.1.7.1.26-05",
    "MQDMPR-3.1.7.1.26-07",
    "MQDMPR-3.1.7.1.26-09",
    "MQDMPR-3.1.7.1.26-10",
    "MQDMPR-3.1.7.1.26-35",
)
def test_direct_name_contains_path_and_computer(sut, judge):
    """The path name and the computer of a direct format name, including one with the SUT's own address, are parts of
    the format name. For HTTP and HTTPS, the computer is the host without the port.
    """
    own = {rf"DIRECT=TCP:{sut.address}\PRIVATE$\orders": (rf"{sut.address}\PRIVATE$\orders", sut.address.lower())}
    for name, (path, machine) in (PATH_BY_DIRECT_NAME | own).items():
        got = _get_queue_path_result(sut, name)
        judge("MQDMPR-3.1.7.1.26-35", expected=OK_STATUS, observed=got["status"], case=f"status of {name}")
        judge("MQDMPR-3.1.7.1.26-09", expected=machine, observed=got["machine"], case=f"computer of {name}")
        judge("MQDMPR-3.1.7.1.26-10", expected=path.lower(), observed=got["path"], case=f"path name of {name}")
        judge(
            "MQDMPR-3.1.7.1.26-05",
            expected={"path name": path.lower(), "computer": machine},
            observed={"path name": got["path"], "computer": got["machine"]},
            case=name,
        )
    for name, machine in PATH_BY_HTTP_NAME.items():
        got = _get_queue_path_result(sut, name)
        judge("MQDMPR-3.1.7.1.26-35", expected=OK_STATUS, observed=got["status"], case=f"status of {name}")
        judge("MQDMPR-3.1.7.1.26-07", expected=machine, observed=got["machine"], case=f"computer of {name}")


@needs("get_queue_path")
@covers("MQDMPR-3.1.7.1.26-03")
def test_name_of_several_queues_has_no_path(sut, judge):
    """The SUT returns neither a path name nor a computer for a multiple-element format name, although it knows both for
    each element. It also returns neither of them for a multicast format name.
    """
    for name in (",".join([*PATH_BY_DIRECT_NAME][:2]), "MULTICAST=234.1.1.9:8001"):
        try:
            got = _get_queue_path_result(sut, name)
        except ControlRefused:
            judge.mark_not_exercised("MQDMPR-3.1.7.1.26-03", reason=f"the control channel refuses the name {name}")
            continue
        observed = {"path name": got["path"], "computer": got["machine"]}
        judge("MQDMPR-3.1.7.1.26-03", expected={"path name": "", "computer": ""}, observed=observed, case=name)


@needs("get_queue_path")
@covers("MQDMPR-3.1.7.1.26-18", "MQDMPR-3.1.7.1.26-29")
def test_unknown_public_or_private_name_is_illegal(sut, judge):
    """The SUT returns MQ_ERROR_ILLEGAL_FORMATNAME for public format names with an unknown GUID or a GUID of zeros, and
    for private format names of a queue and a journal with an unknown computer.
    """
    for guid in (UNKNOWN_QUEUE_GUID, UUID(int=0)):
        judge(
            "MQDMPR-3.1.7.1.26-18",
            expected=ILLEGAL_NAME_STATUS,
            observed=_get_queue_path_result(sut, f"PUBLIC={guid}")["status"],
            case=f"status of the public name {guid}",
        )
    for suffix in ("", ";JOURNAL"):
        judge(
            "MQDMPR-3.1.7.1.26-29",
            expected=ILLEGAL_NAME_STATUS,
            observed=_get_queue_path_result(sut, rf"PRIVATE={UNKNOWN_QUEUE_GUID}\00000001{suffix}")["status"],
            case=f"status of the unknown private name with the suffix {suffix!r}",
        )


@needs("get_queue_path", "directory", "environment", "queue_control")
@covers("MQDMPR-3.1.7.1.26-13", "MQDMPR-3.1.7.1.26-18")
def test_public_name_without_directory_object_is_illegal(peer, sut, judge):
    """An administrator deletes the directory object of one of the SUT's public queues, whose path the SUT has returned
    before. The SUT then returns MQ_ERROR_ILLEGAL_FORMATNAME for the public format name of this queue, and still returns
    the path of another public queue.
    """
    enterprise = Enterprise(peer, sut)
    names = [enterprise.create_queue() for _ in range(2)]
    public = [sut.format_names(name)["public"] for name in names]
    before = [_get_queue_path_result(sut, name)["status"] for name in public]
    try:
        enterprise.change_directory_object_of_queue(names[0], present=False)
    except ControlRefused as refused:
        judge.end_unobservable(f"the control channel cannot delete a queue's object in the directory: {refused}")
        return
    enterprise.create_queue()  # the SUT reads the directory again
    after = [_get_queue_path_result(sut, name)["status"] for name in public]
    judge.all(
        expected={
            "before the deletion": [OK_STATUS, OK_STATUS],
            "after the deletion": [ILLEGAL_NAME_STATUS, OK_STATUS],
        },
        observed={"before the deletion": before, "after the deletion": after},
    )


@needs("get_queue_path", "directory", "environment", "queue_control", "set_timers")
@covers("MQDMPR-3.1.7.1.26-13", "MQDMPR-3.1.7.1.26-18", "MQDMPR-3.1.7.1.26-24", "MQDMPR-3.1.7.1.26-29")
def test_name_of_other_computer_is_illegal_without_directory(peer, sut, judge):
    """The SUT returns the paths of a public and a private queue of another computer, but returns
    MQ_ERROR_ILLEGAL_FORMATNAME for their names while the directory is unavailable.
    """
    public, private = (
        f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}",
        rf"PRIVATE={GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE}\00000001",
    )
    before = {name: _get_queue_path_result(sut, name)["status"] for name in (public, private)}
    Enterprise(peer, sut).go_offline()
    offline = {name: _get_queue_path_result(sut, name)["status"] for name in (public, private)}
    for name, rules in (
        (public, ("MQDMPR-3.1.7.1.26-13", "MQDMPR-3.1.7.1.26-18")),
        (private, ("MQDMPR-3.1.7.1.26-24", "MQDMPR-3.1.7.1.26-29")),
    ):
        judge(
            *rules,
            expected={"with the directory": OK_STATUS, "without the directory": ILLEGAL_NAME_STATUS},
            observed={"with the directory": before[name], "without the directory": offline[name]},
            case=f"statuses of {name}",
        )


@needs("get_queue_path", "directory", "queue_control")
@covers(
    "MQDMPR-3.1.7.1.26-03",
    "MQDMPR-3.1.7.1.26-12",
    "MQDMPR-3.1.7.1.26-13",
    "MQDMPR-3.1.7.1.26-16",
    "MQDMPR-3.1.7.1.26-18",
    "MQDMPR-3.1.7.1.26-20",
    "MQDMPR-3.1.7.1.26-21",
    "MQDMPR-3.1.7.1.26-23",
    "MQDMPR-3.1.7.1.26-24",
    "MQDMPR-3.1.7.1.26-27",
    "MQDMPR-3.1.7.1.26-29",
    "MQDMPR-3.1.7.1.26-31",
    "MQDMPR-3.1.7.1.26-32",
    "MQDMPR-3.1.7.1.26-34",
    "MQDMPR-3.1.7.1.26-35",
)
def test_path_of_public_and_private_name_is_from_directory(peer, sut, judge):
    """For public format names, the SUT returns the path and the computer from their directory objects. For private
    format names, it returns the computer and, only for local queues, the path. It returns MQ_ERROR_ILLEGAL_FORMATNAME
    for unknown and similar GUIDs, for the GUID of an object of the other kind, and for the GUID of a deleted queue.
    """
    names = [f"mqc-{sut.own}-{one}" for one in ("first", "second")]
    for name in names:
        sut.create_queue(name)
    queue = sut.new_queue("private")
    private = sut.private_format_name(queue)
    number = private.rpartition("\\")[2]
    own_answer, foreign_answer = (
        _get_queue_path_result(sut, private),
        _get_queue_path_result(sut, rf"PRIVATE={peer.identifier}\{number}"),
    )
    machine = own_answer["machine"]
    published = {
        name: _get_queue_path_result(sut, sut.format_names(name).get("public", "no public format name"))
        for name in names
    }
    expected = {name: {"status": OK_STATUS, "path": f"{machine}\\{name}".lower(), "machine": machine} for name in names}
    judge(
        "MQDMPR-3.1.7.1.26-12",
        "MQDMPR-3.1.7.1.26-13",
        "MQDMPR-3.1.7.1.26-16",
        "MQDMPR-3.1.7.1.26-20",
        "MQDMPR-3.1.7.1.26-21",
        expected=expected,
        observed=published,
    )
    judge(
        "MQDMPR-3.1.7.1.26-24",
        "MQDMPR-3.1.7.1.26-32",
        expected=each(machine),
        observed=[one["path"].partition("\\")[0] for one in published.values()],
        case="computer of a private queue, and in the path names of two public queues",
    )
    own, other = (_get_queue_path_result(sut, name)["machine"] for name in (private, f"PUBLIC={PEER_PUBLIC_QUEUE}"))
    judge(
        "MQDMPR-3.1.7.1.26-21",
        expected=holds("the computer of a public queue of the peer differs"),
        observed=(bool(other) and other != own) or f"the computer {other}",
    )
    hosts = {
        PEER_PUBLIC_QUEUE: peer.identifier,
        GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE: GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    }
    machines = {
        queue: _get_queue_path_result(sut, rf"PRIVATE={host}\00000001")["machine"] for queue, host in hosts.items()
    }
    found = {queue: _get_queue_path_result(sut, f"PUBLIC={queue}") for queue in hosts}
    short = [_get_queue_path_result(sut, rf"PRIVATE={host}\1")["machine"] for host in hosts.values()]
    case = "computers of private names whose number has one digit"
    judge("MQDMPR-3.1.7.1.26-31", expected=[*machines.values()], observed=short, case=case)
    judge(
        "MQDMPR-3.1.7.1.26-12",
        "MQDMPR-3.1.7.1.26-16",
        "MQDMPR-3.1.7.1.26-20",
        "MQDMPR-3.1.7.1.26-21",
        "MQDMPR-3.1.7.1.26-27",
        "MQDMPR-3.1.7.1.26-31",
        "MQDMPR-3.1.7.1.26-32",
        expected={str(queue): {"computer": one, "computer in the path name": one} for queue, one in machines.items()},
        observed={
            str(queue): {"computer": one["machine"], "computer in the path name": one["path"].partition("\\")[0]}
            for queue, one in found.items()
        },
        case="public queues of two other computers",
    )
    are_apart = bool(machine and foreign_answer["machine"]) and machine != foreign_answer["machine"]
    judge(
        "MQDMPR-3.1.7.1.26-23",
        "MQDMPR-3.1.7.1.26-24",
        "MQDMPR-3.1.7.1.26-27",
        "MQDMPR-3.1.7.1.26-31",
        "MQDMPR-3.1.7.1.26-32",
        expected={
            "status of the local name": OK_STATUS,
            "status of the remote name": OK_STATUS,
            "computers of the names": holds("different"),
        },
        observed={
            "status of the local name": own_answer["status"],
            "status of the remote name": foreign_answer["status"],
            "computers of the names": are_apart or [machine, foreign_answer["machine"]],
        },
    )
    judge(
        "MQDMPR-3.1.7.1.26-34",
        expected={
            "status": OK_STATUS,
            "path name": f"{machine}\\{queue}".lower(),
            "path name at the other computer": "",
        },
        observed={
            "status": own_answer["status"],
            "path name": own_answer["path"],
            "path name at the other computer": foreign_answer["path"],
        },
    )
    missing = _get_queue_path_result(sut, private.replace(number, f"{MISSING_PRIVATE_QUEUE_NUMBER:08X}"))
    judge(
        "MQDMPR-3.1.7.1.26-03",
        "MQDMPR-3.1.7.1.26-34",
        expected={"queue_of_another_computer": "", "missing_queue": ""},
        observed={"queue_of_another_computer": foreign_answer["path"], "missing_queue": missing["path"]},
        case="path names of unknown queues",
    )
    statuses = [one["status"] for one in (*published.values(), own_answer, foreign_answer)]
    judge("MQDMPR-3.1.7.1.26-35", expected=each(OK_STATUS, "name"), observed=statuses)
    judge(
        "MQDMPR-3.1.7.1.26-35",
        expected=OK_STATUS,
        observed=missing["status"],
        case="status of the missing private queue",
    )
    deleted = sut.format_names(names[0]).get("public", "no public format name")
    sut.delete_queue(names[0])
    case = "status of the public name of a deleted queue"
    judge(
        "MQDMPR-3.1.7.1.26-13",
        "MQDMPR-3.1.7.1.26-18",
        expected=ILLEGAL_NAME_STATUS,
        observed=_get_queue_path_result(sut, deleted)["status"],
        case=case,
    )
    journal = _get_queue_path_result(sut, rf"PRIVATE={peer.identifier}\{number};JOURNAL")
    judge(
        "MQDMPR-3.1.7.1.26-23",
        "MQDMPR-3.1.7.1.26-32",
        "MQDMPR-3.1.7.1.26-35",
        expected={"status": OK_STATUS, "machine": foreign_answer["machine"]},
        observed={key: journal[key] for key in ("status", "machine")},
        case="journal of a private queue of the peer",
    )
    similar = UUID(int=PEER_PUBLIC_QUEUE.int ^ 1)
    for guid in (UNKNOWN_QUEUE_GUID, similar, peer.identifier):
        judge(
            "MQDMPR-3.1.7.1.26-16",
            "MQDMPR-3.1.7.1.26-18",
            expected=ILLEGAL_NAME_STATUS,
            observed=_get_queue_path_result(sut, f"PUBLIC={guid}")["status"],
            case=f"status of the public name {guid}, which is not the Identifier of a queue",
        )
    similar = UUID(int=peer.identifier.int ^ 1)
    for guid in (UNKNOWN_QUEUE_GUID, similar, PEER_PUBLIC_QUEUE):
        judge(
            "MQDMPR-3.1.7.1.26-27",
            "MQDMPR-3.1.7.1.26-29",
            expected=ILLEGAL_NAME_STATUS,
            observed=_get_queue_path_result(sut, rf"PRIVATE={guid}\{number}")["status"],
            case=f"status of the private name {guid}, which is not the Identifier of a queue manager",
        )
