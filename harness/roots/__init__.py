"""Check the roots: the conditions on which all verdicts on a real system rest. `mqconform preflight` checks them before
a run, and a run checks them at its first bad verdict.
"""
