"""Makes small contents of sites by hand, for tests without Spark."""

from collections import Counter
from datetime import UTC, datetime

from reports.captures import CaptureStore
from reports.model import (
    EXAMPLES_PER_PAGE,
    OBSERVATION_PANELS_PER_PAGE,
    CitedErratum,
    Frame,
    RejectedVerdictLine,
    Rule,
    Run,
    SiteContents,
    StandingVerdict,
    System,
    get_rule_sort_key,
)
from reports.site import write_site
from reports.verdict_table import VerdictTable
from reports.vocabulary import FINDING_VERDICTS, SEVERITY_BY_VERDICT

CONTOSO = System("Contoso", "1.0", "", 1)
FABRIKAM = System("Fabrikam", "2.2", "", 2)


def rule(number, section="2.1.1", **values):
    words = {"title": "Session", "level": "MUST", "form": "rule", "observe": "wire", "role": "acceptor"}
    words |= {"why": "", "link": "", "says": f"says {number}"} | values
    return Rule(f"MQQB-{section}-{number:02d}", "MQQB", section, **words)


def frame(number, **values):
    words = {"direction": "sut->peer", "transport": "tcp", "hex": "10c0", "octets": 2, "dissection": f"frame {number}"}
    return Frame(**({"frame": number, "time_ms": 5} | words | values))


def day(number):
    return datetime(2026, 11, number, tzinfo=UTC)


def standing(of, system, verdict, frames=(), **values):
    words = {"run": "r1", "started": day(1), "seq": 1, "reach": "virtual", "counts": {verdict: 1}} | values
    return StandingVerdict(
        system.key, of.rule, of.document, of.section, of.level, verdict, evidence=tuple(frames), **words
    )


def run(name, system, number=1, **values):
    words = {"vendor": "vendor", "reach": "virtual", "harness": "0.1.0", "selection": "", "exit": None}
    words |= {"aborted": "", "partial": False, "started": day(number), "finished": day(number), "folder": "/x"}
    words |= {"counts": {}} | values
    return Run(name, number, system=system.key, **words)


def contents(systems, rules, standings=(), runs=(), rejected=(), changes=(), **values):
    """Make the content of a site; numbers that follow from the standing verdicts are computed here."""
    table = VerdictTable.create_empty(
        [each.rule for each in sorted(rules, key=get_rule_sort_key)], [each.key for each in systems]
    )
    for one in standings:
        if not one.retired:
            table.record_verdict(one.system, one.verdict, [one.rule])
    cited = Counter((entry, one.rule) for one in standings for entry in one.errata)
    found = [one for one in standings if one.verdict in FINDING_VERDICTS or one.retired or one.later_undecided_verdicts]
    made = {
        "runs": tuple(runs),
        "rules": {each.rule: each for each in rules},
        "standing_verdicts": table,
        "read_shown_verdicts": lambda: iter(_shown(standings)),
        "cited_errata": tuple(CitedErratum(*key, number) for key, number in cited.items()),
        "read_findings": lambda: iter(
            sorted(found, key=lambda one: (one.system, SEVERITY_BY_VERDICT[one.verdict], one.rule))
        ),
        "changes": lambda: iter(sorted(changes, key=lambda one: one.rule)),
        "rejected": tuple(RejectedVerdictLine("/runs/x", line, why) for line, why in rejected),
        "rejected_count": len(rejected),
        "run_count": len(runs),
    }
    return SiteContents(tuple(systems), **(made | values))


def _shown(standings):
    """Choose the verdicts that the page of a rule shows, as `reports.site_of_lake` does."""
    worst_first = sorted(
        standings, key=lambda one: (one.rule, one.retired, SEVERITY_BY_VERDICT[one.verdict], one.system)
    )
    room = Counter()
    for one in worst_first:
        is_bad = one.verdict in FINDING_VERDICTS
        room[one.rule, is_bad] += 1
        if room[one.rule, is_bad] <= (OBSERVATION_PANELS_PER_PAGE if is_bad else EXAMPLES_PER_PAGE):
            yield one


def written(tmp_path, made, folders=None, errata=None, named=str, **how):
    """Write a site; return its folder, and the captures that were missing."""
    store = CaptureStore(tmp_path / "site", (folders or {}).get, **how)
    return tmp_path / "site", write_site(made, store, errata=errata, named=named)
