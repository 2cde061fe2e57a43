"""MS-MQQB 3.1.5.8.1 Duplicate Detection."""
