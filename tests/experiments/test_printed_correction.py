"""Half of the bias is left by the printed step, none by the corrected one."""

import numpy as np
import pytest

from experiments import printed_correction as experiment


def test_the_page_has_theory_beside_measurement(miniature):
    made = miniature("noisy-printed-step")
    lines, real = made.tables()
    assert len(lines) == 1 + len(experiment.SIGMAS) * len(experiment.STEPS)
    assert real[0] == ["step", "diabetes", "concrete"]
    assert len(made.figures) == 1


def test_the_corrected_step_ends_nearest_to_the_truth(miniature):
    records = miniature("noisy-printed-step").records
    lines = [
        record
        for record in records
        if record["cell"]["data"] == "line" and record["cell"]["sigma"] == 1.0
    ]
    ends = {
        name: np.mean([record["error"][name][-1] for record in lines])
        for name in experiment.STEPS
    }
    corrected, printed, nothing = ends.values()
    assert corrected < 0.5 * printed
    assert printed < nothing
    for name, share in experiment.STEPS.items():
        limit = experiment.biased_length(share, 1.0)
        assert ends[name] == pytest.approx(limit, abs=0.12)
