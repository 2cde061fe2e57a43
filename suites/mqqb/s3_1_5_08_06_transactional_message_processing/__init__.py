"""MS-MQQB 3.1.5.8.6 Transactional Message Processing."""
