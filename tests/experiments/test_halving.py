"""Theorem 4 of the spectral paper: the mean distance halves in every epoch."""

import numpy as np

from experiments import halving


def test_the_distance_halves_with_the_q_of_the_proof(miniature):
    made = miniature("halving")
    for record in made.records:
        for runs in record["distances"].values():
            assert np.mean(runs, axis=0)[0] > 1e-4
            assert halving.ratios(runs).max() <= 0.5
    (table,) = made.tables()
    assert table[0][1:] == ["largest ratio, q* = 0", "largest ratio, q* = 1/n"]
    assert "with q* = 1/n in 4" in made.text


def test_ratios_end_at_the_rounding_of_the_minimum():
    runs = [[1.0, 0.25, 1e-12, 1e-12]]
    assert halving.ratios(runs).tolist() == [0.25]
