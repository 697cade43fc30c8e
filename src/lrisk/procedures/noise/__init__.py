"""Kernel regression from noisy rows: the batch problem and the online rounds."""
