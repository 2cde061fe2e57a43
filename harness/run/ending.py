"""Handle the end of the SUT's process, and end a run whose SUT is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from harness.run.checks import get_check_id
from harness.run.stash import RUN_KEY, make_judge

if TYPE_CHECKING:
    from harness.sut.drivers import SutDriver


def restart_sut_if_process_ended(item: pytest.Item, driver: SutDriver, *, more: bool, told: bool) -> bool:
    """Record whether the SUT's process has ended. If it has ended and further checks follow (``more``), restart it.
    Return whether the process had ended.

    ``told`` states whether the verdicts of the check already report the end of the process. An earlier check may have
    caused this end. If the restart fails, the run ends.
    """
    from harness.errors import MqconformError
    from harness.run.floods import find_end_reason

    path = str(get_check_id(item))
    item.config.stash[RUN_KEY].write_new_residue()
    if (why := find_end_reason(item)) is not None:
        end_run(item.session, why)
        more = False
    death = driver.take_process_end(path)
    if death is None:
        return False
    item.config.stash[RUN_KEY].record_process_end(death)
    if not told:
        make_judge(item).abort_check(describe_end_of_process(death.how))
    try:
        if more:
            driver.start_again()
    except MqconformError as error:
        end_run(item.session, str(error))
    return True


def describe_end_of_process(how: str) -> str:
    """Return the text that verdicts and the terminal show when the SUT's process has ended."""
    return f"the SUT's process ended: {how}"


def describe_end_after_failures(failures: int) -> str:
    """Return the text that states that the run ended after this number of failures (``--maxfail``)."""
    return f"stopped after {failures} failure{'' if failures == 1 else 's'}"


def end_run(session: pytest.Session, why: str) -> None:
    """End the run because the SUT is lost. No further check is started."""
    session.config.stash[RUN_KEY].lose(why)
    session.shouldstop = why
