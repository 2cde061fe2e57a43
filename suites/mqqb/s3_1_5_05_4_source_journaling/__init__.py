"""MS-MQQB 3.1.5.5.4 Source Journaling."""
