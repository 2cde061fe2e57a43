"""Vary checks: a check is repeated with other values of the properties that its rule leaves open, once for each row of
a covering array. ``parameters`` has the table of parameters and values, and ``arrays`` builds covering arrays.
``variant`` applies a row to messages and queues, and ``varied_control`` to requests on the control channel and to
reads. ``shrinking`` finds the smallest combination of values with which a check fails.
"""
