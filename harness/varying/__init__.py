"""Vary checks: repeat a check with other values of properties that its rule leaves open. ``parameters`` has the table
of parameters and values, ``arrays`` builds covering arrays, ``variant`` applies a row to messages and queues,
``varied_control`` applies it to requests and reads, and ``shrinking`` finds the smallest combination that fails.
"""
