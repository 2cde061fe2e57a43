"""MS-MQQB 3.1.7.2 Message Position Deleted, with 3.1.7.2.1, 3.1.7.2.2."""
