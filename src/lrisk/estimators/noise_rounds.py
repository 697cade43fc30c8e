"""The online rounds of kernel regression from noisy rows, in their three forms."""

import copy
from typing import Any

import numpy as np

from .._typing import Floats
from ..corrections import RandomFeatures, Surrogate, corrected_rows
from ..corrections.bounds import surrogate_ball
from ..noise import Exact, GaussianNoise, Noise, Replicates
from ..solvers.online.kernel import OnlineKernel
from ..solvers.online.linear import OnlineLinear, squared_norms
from .noise_base import NoiseEstimator

#: Rows turned into features at a time.
BLOCK = 1024


class KernelRounds(NoiseEstimator):
    """Algorithm 2: exact, on a budget, and with random features."""

    kernel: Any
    width: float | str
    learning_rate: float | str
    radius: float | str
    angle: float
    average: bool
    budget: int | None
    tolerance: float
    horizon: int | None
    target_bound: float | None
    surrogate_radius_: float
    _features: RandomFeatures | None
    _surrogate: Surrogate
    _world_noise: Noise

    def _solver(self) -> OnlineKernel:
        return OnlineKernel(
            self.learning_rate,  # type: ignore[arg-type]
            self._ball(),
            average=self.average,
            horizon=self.horizon,
            target_bound=self.target_bound,
            budget=self.budget,
            tolerance=self.tolerance,
        )

    def _ball(self) -> float | str:
        """W = R·B_w/√(1 − cos β) once R is known."""
        if isinstance(self.radius, str) or not hasattr(self, "surrogate_radius_"):
            return self.radius
        cosine = float(np.cos(self.angle))
        return surrogate_ball(float(self.radius), self.surrogate_radius_**2, cosine)

    def _kernel_rounds(self, copies: list[Floats], y: Floats) -> None:
        solver, surrogate = self._solver(), self._surrogate
        if hasattr(self, "_state"):  # a copy: an interrupted call changes nothing
            state = copy.deepcopy(self._state)
        else:
            state = solver.init(self.n_features_in_)
        P, *others = (surrogate.transform(c) for c in copies)
        self._state: Any = solver.step(state, surrogate, P, np.stack(others, 1), y)
        self._support, self.dual_coef_ = solver.finish(self._state)
        self.support_ = self._support @ np.linalg.inv(surrogate.rotation)
        self._store_rounds(solver.report(self._state, surrogate))

    def _feature_rounds(
        self, copies: list[Floats], y: Floats, factor: Floats | None
    ) -> None:
        features = self._features
        assert features is not None
        options = self._solver().get_params()
        solver = OnlineLinear(
            **{k: v for k, v in options.items() if k not in ("budget", "tolerance")}
        ).set_params(feature_bound=self.surrogate_radius_)
        if hasattr(self, "_state"):
            state = copy.deepcopy(self._state)
        else:
            state = solver.init(features.n_components)
        for start in range(0, len(y), BLOCK):
            part = slice(start, start + BLOCK)
            own = None if factor is None else factor[part]
            psi = np.stack([features.noisy(c[part], own) for c in copies])
            rows = corrected_rows(psi, Replicates())
            solver.step(state, rows, y[part], squared_norms(psi, rows))
        self._state = state
        self.dual_coef_ = solver.finish(state)
        self._store_rounds(solver.report(state, pairs=True))

    def _store_rounds(self, report: dict[str, float]) -> None:
        self.n_rounds_ = self._state.rounds
        self.learning_rate_, self.radius_ = report["step"], report["radius"]
        self.progressive_loss_ = report["loss"]
        self.theory_bound_ = report["bound"] if self._bound_is_proven() else np.inf

    def _bound_is_proven(self) -> bool:
        """Whether the rounds are what theorem 2 speaks of.

        W rests on 0 ≤ k̂ ≤ R²k, true of Gaussian noise only (under Laplace noise k̂ takes
        both signs). A budget drops part of each gradient; random features span a space
        without the comparators; noise corrected in part leaves a bias; a width or scale
        taken from the noisy rows depends on their noise.
        """
        if isinstance(self._world_noise, Exact):
            unbiased = True
        else:
            chosen = self.standardize or (
                isinstance(self.kernel, str) and isinstance(self.width, str)
            )
            gaussian = isinstance(self._world_noise, GaussianNoise)
            unbiased = gaussian and self.correction == 1.0 and not chosen
        return unbiased and self.budget is None and self._features is None
