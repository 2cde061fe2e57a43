"""MS-MQQB 3.1.7.12 Message Position Available Event."""
