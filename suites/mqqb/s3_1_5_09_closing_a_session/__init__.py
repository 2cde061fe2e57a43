"""MS-MQQB 3.1.5.9 Closing a Session."""
