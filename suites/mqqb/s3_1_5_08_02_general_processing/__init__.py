"""MS-MQQB 3.1.5.8.2 General Processing."""
