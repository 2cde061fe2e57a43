"""MS-MQDMPR 3.1.7.1.26 Get Queue Path."""

from __future__ import annotations

from uuid import UUID

from harness.run.marks import covers, needs

OK, ILLEGAL = "MQ_OK", "MQ_ERROR_ILLEGAL_FORMATNAME"
NOBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000f6")
MISSING = 0xFFF0_0000
"""A number that no private queue has."""
DIRECT = {
    r"DIRECT=TCP:127.0.0.9\PRIVATE$\orders": (r"127.0.0.9\PRIVATE$\orders", "127.0.0.9"),
    r"DIRECT=OS:nowhere.example\orders": (r"nowhere.example\orders", "nowhere.example"),
    r"DIRECT=OS:nowhere\PRIVATE$\orders;JOURNAL": (r"nowhere\PRIVATE$\orders;JOURNAL", "nowhere"),
}
WEB = {
    r"DIRECT=HTTP://web.example/msmq\PRIVATE$\orders": "web.example",
    r"DIRECT=HTTPS://web.example/msmq\orders": "web.example",
    r"DIRECT=HTTPS://secure.example:8443/msmq\orders": "secure.example",
}


def _got(sut, name: str) -> tuple[str, str, str]:
    answer = sut.control.call("get_queue_path", format_name=name)
    return answer["status"], answer["path"].lower(), answer["machine"].lower()


@needs("get_queue_path")
@covers(
    "MQDMPR-3.1.7.1.26-05",
    "MQDMPR-3.1.7.1.26-07",
    "MQDMPR-3.1.7.1.26-09",
    "MQDMPR-3.1.7.1.26-10",
    "MQDMPR-3.1.7.1.26-35",
)
def test_a_direct_name_tells_its_path_itself(sut, judge):
    """The computer of a direct name is its address, by HTTP and HTTPS the host in it; its path begins with that."""
    for name, (path, machine) in DIRECT.items():
        got = _got(sut, name)
        judge("MQDMPR-3.1.7.1.26-35", expected=OK, observed=got[0], case=name)
        judge("MQDMPR-3.1.7.1.26-09", expected=machine, observed=got[2], case=name)
        judge("MQDMPR-3.1.7.1.26-10", expected=path.lower(), observed=got[1], case=name)
        expected, observed = f"{name}: {path.lower()} on {machine}", f"{name}: {got[1]} on {got[2]}"
        judge("MQDMPR-3.1.7.1.26-05", expected=expected, observed=observed)
    for name, machine in WEB.items():
        judge("MQDMPR-3.1.7.1.26-07", expected=machine, observed=_got(sut, name)[2], case=name)


@needs("get_queue_path")
@covers("MQDMPR-3.1.7.1.26-18", "MQDMPR-3.1.7.1.26-29")
def test_what_no_directory_knows_is_no_legal_name(sut, judge):
    """A queue and a computer that nobody knows: their names are not legal."""
    public, private = f"PUBLIC={NOBODY}", rf"PRIVATE={NOBODY}\00000001"
    judge("MQDMPR-3.1.7.1.26-18", expected=ILLEGAL, observed=_got(sut, public)[0])
    judge("MQDMPR-3.1.7.1.26-29", expected=ILLEGAL, observed=_got(sut, private)[0])


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
def test_the_directory_tells_whose_queue_it_is(peer, sut, judge):
    """Two public queues and a private one of the SUT, a private one of the peer: each has its path, as far as it can be
    known, and its computer; those that the directory lacks are not legal beside them, too.
    """
    names = [f"mqc-{sut.own}-{one}" for one in ("first", "second")]
    for name in names:
        sut.create_queue(name)
    queue = sut.new_queue("private")
    private = sut.private_format_name(queue)
    number = private.rpartition("\\")[2]
    here, there = _got(sut, private), _got(sut, rf"PRIVATE={peer.identifier}\{number}")
    machine = here[2]
    published = [_got(sut, sut.format_names(name).get("public", "no public format name")) for name in names]
    expected = [(OK, f"{machine}\\{name}".lower(), machine) for name in names]
    judge(
        "MQDMPR-3.1.7.1.26-12",
        "MQDMPR-3.1.7.1.26-13",
        "MQDMPR-3.1.7.1.26-16",
        "MQDMPR-3.1.7.1.26-20",
        "MQDMPR-3.1.7.1.26-21",
        expected=expected,
        observed=published,
    )
    local = (OK, f"{machine}\\{queue}".lower())
    known = "two computers" if machine and there[2] and machine != there[2] else f"{machine!r}, {there[2]!r}"
    judge(
        "MQDMPR-3.1.7.1.26-23",
        "MQDMPR-3.1.7.1.26-24",
        "MQDMPR-3.1.7.1.26-27",
        "MQDMPR-3.1.7.1.26-31",
        "MQDMPR-3.1.7.1.26-32",
        expected=[OK, OK, "two computers"],
        observed=[here[0], there[0], known],
    )
    judge("MQDMPR-3.1.7.1.26-34", expected=[local, ""], observed=[here[:2], there[1]])
    missing = _got(sut, private.replace(number, f"{MISSING:08X}"))
    judge("MQDMPR-3.1.7.1.26-03", expected=["", ""], observed=[there[1], missing[1]])
    judge("MQDMPR-3.1.7.1.26-35", expected=[OK] * 4, observed=[one[0] for one in (*published, here, there)])
    public, foreign = f"PUBLIC={NOBODY}", rf"PRIVATE={NOBODY}\{number}"
    judge("MQDMPR-3.1.7.1.26-18", expected=ILLEGAL, observed=_got(sut, public)[0])
    judge("MQDMPR-3.1.7.1.26-29", expected=ILLEGAL, observed=_got(sut, foreign)[0])
