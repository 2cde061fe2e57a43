"""What all verdicts on a real system rest on: preflight asks for it before a run, a run at its first bad verdict."""
