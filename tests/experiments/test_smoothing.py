"""Smoothing changes little, and nothing for the mean."""

import numpy as np
from experiments._curves import final, median
from experiments.smoothing import PLAIN, methods

NAME = "smoothing"


def test_tables_and_figure(miniature):
    found = miniature(NAME)
    verdict, finals = found.tables()
    assert verdict[0][0] == "smoothing"
    assert len(verdict) == 1 + 4
    assert finals[0] == ["problem", *methods(100, 64)]
    assert len(finals) == 1 + 4
    assert [path.name for path in found.figures] == ["smoothing.svg"]


def test_for_the_mean_smoothing_is_nothing_and_else_the_curves_agree(miniature):
    for record in miniature(NAME).records:
        found = {name: runs["curves"] for name, runs in record["methods"].items()}
        plain = final(found[PLAIN])
        if record["cell"]["risk"] == "mean":
            np.testing.assert_array_equal(
                median(found["entropy, N = n"]), median(found["l2, N = n"])
            )
        for name in ("entropy, N = n", "l2, N = n"):
            assert abs(final(found[name]) - plain) < 0.5


def test_coefficients_are_those_of_the_paper():
    found = methods(200, 64)
    assert found["entropy, N = n"].nu == 1e-3
    assert found["l2, N = n"].nu == 0.2
    assert found["l2, N = 2n"].epoch_length == 400
    assert found["l2, N = 2n"].checkpoint_probability == 1 / 200
