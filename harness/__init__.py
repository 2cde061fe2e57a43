"""The tester: drives a queue manager under test, watches every byte and judges rules."""
