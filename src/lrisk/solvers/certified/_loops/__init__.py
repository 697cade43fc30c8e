"""Compiled loops over blocks of rows."""
