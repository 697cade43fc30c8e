"""Compiled loops of the procedures; those of a solver are beside it."""
