"""Compiled loops over batches of rows, drawn at random."""
