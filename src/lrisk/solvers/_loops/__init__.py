"""Compiled inner loops of the solvers; nothing here knows more than arrays."""
