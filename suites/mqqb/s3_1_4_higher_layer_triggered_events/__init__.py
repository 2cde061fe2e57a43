"""MS-MQQB 3.1.4 Higher layer triggered events, with 3.1.4.1, 3.1.4.2."""
