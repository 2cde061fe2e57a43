"""MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages."""
