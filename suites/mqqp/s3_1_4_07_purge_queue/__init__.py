"""MS-MQQP 3.1.4.7 RemoteQMPurgeQueue (Opnum 6)."""
