"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader."""
