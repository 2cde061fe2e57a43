"""MS-MQQB 3.1.5.2.1 Resolve Host Address."""
