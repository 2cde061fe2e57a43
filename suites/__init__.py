"""The checks. Each section of a specification has a folder, with its rules and with pytest modules of checks and
faults.
"""
