"""MS-MQQB 3.1.1.3 Queue Manager State: a SendInsecureNacks of FALSE after a restart."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs


@needs("configure", "restart")
@covers("MQQB-3.1.1.3-27")
@pytest.mark.parametrize("with_restart_between_changes", [False, True])
def test_send_insecure_nacks_of_false_is_kept_over_restart(sut, judge, with_restart_between_changes):
    """SendInsecureNacks is set to TRUE and then to FALSE, before a restart or with a restart between the changes. It is
    FALSE after the last restart.
    """
    sut.configure(send_insecure_nacks=True)
    if with_restart_between_changes:
        sut.restart()
    sut.configure(send_insecure_nacks=False)
    sut.restart()
    judge(
        "MQQB-3.1.1.3-27",
        expected=False,
        observed=sut.control.call("configure")["send_insecure_nacks"],
        case="SendInsecureNacks after a restart",
        note="<29>",
    )
