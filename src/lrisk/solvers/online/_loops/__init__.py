"""Compiled loops over rows that come one after another."""
