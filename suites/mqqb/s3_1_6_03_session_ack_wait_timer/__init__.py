"""MS-MQQB 3.1.6.3 Session Ack Wait Timer Event."""
