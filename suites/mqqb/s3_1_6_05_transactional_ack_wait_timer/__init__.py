"""MS-MQQB 3.1.6.5 Transactional Ack Wait Timer Event."""
