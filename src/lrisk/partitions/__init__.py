"""Rows in parts that answer questions in numbers: larger than memory, or elsewhere."""
