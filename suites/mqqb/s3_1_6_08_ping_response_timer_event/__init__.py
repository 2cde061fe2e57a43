"""MS-MQQB 3.1.6.8 Ping Response Timer Event."""
