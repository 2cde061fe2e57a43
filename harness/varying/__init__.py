"""Vary checks: a check is repeated with other values of the properties that its rule leaves open. ``parameters``
has the table of parameters and values, ``arrays`` builds covering arrays, ``variant`` applies a row to messages and
queues, ``varied_control`` applies a row to requests and reads, and ``shrinking`` finds the smallest combination
that fails.
"""
