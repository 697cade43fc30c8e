"""Claims of the subquantile paper without a table."""

import numpy as np
import pytest

from experiments import claims


def test_the_page_has_all_claims(miniature):
    made = miniature("subquantile-claims")
    for words in ("Approximately linear", "10⁵ against 10⁶", "choice of the kernel",
                  "accuracy over R and γ"):  # fmt: skip
        assert words in made.text
    assert len(made.figures) == 1
    surface = made.tables()[-1]
    assert surface[0][0] == "R" and len(surface) == 2


def test_more_steps_make_up_for_feature_noise(miniature):
    own = [
        r for r in miniature("subquantile-claims").records
        if (r["cell"]["kind"], r["cell"]["noise"]) == ("steps", "label+feature")
    ]  # fmt: skip
    first, last = (np.mean([r["path"][t] for r in own]) for t in ("1000", "10000"))
    assert last < 0.9 * first


def test_lines_are_told_from_curves():
    shares = [0.1, 0.2, 0.3, 0.4]
    line, gamma = claims.straightness(shares, np.array([1.0, 2.0, 3.0, 4.0]))
    assert line == pytest.approx(1.0) and gamma < 0.9
    ratio = np.array([s / (1 - 2 * s) for s in shares])
    line, gamma = claims.straightness(shares, ratio)
    assert gamma == pytest.approx(1.0) and line < 0.9
