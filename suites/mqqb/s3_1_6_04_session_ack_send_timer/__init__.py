"""MS-MQQB 3.1.6.4 Session Ack Send Timer Event."""
