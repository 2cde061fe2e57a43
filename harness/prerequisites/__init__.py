"""Check the prerequisites (roots) on which all verdicts about a real system depend. `mqconform preflight` checks them
before a run, and a run checks them at its first bad verdict.
"""
