"""MS-MQQB 3.1.1.3 Queue Manager State, with 3.1.1.3.2."""
