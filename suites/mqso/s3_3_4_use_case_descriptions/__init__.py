"""MS-MQSO 3.3.4 Use Case Descriptions."""
