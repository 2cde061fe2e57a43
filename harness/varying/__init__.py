"""What checks vary: parameters and their values, covering arrays, and one row applied to a check.

``parameters`` has the table, ``arrays`` the rows, ``variant`` the messages and queues of a row, ``varied_control`` its
requests and reads, ``shrinking`` finds the smallest combination that fails.
"""
