"""MS-MQQB 3.1.1.6.2 Transactional Acknowledgment."""
