"""MS-MQQB 3.1.6.1 Session Retry Connect Timer Event."""
