"""MS-MQQB 3.1.1.6.1 Session Acknowledgment."""
