"""MS-MQQB 3.1.6.9 Order Ack Send Timer Event."""
