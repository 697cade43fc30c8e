"""Stochastic subgradients on rows that come in a stream: `partial_fit`.

The same steps as in `SGD`, on the batches as they arrive; the spectrum is discretised
to each batch, and μ = α/W with W the weight of all rows seen so far.
"""

from dataclasses import dataclass

from ..._typing import Floats
from ...objective import Objective
from ...spaces.capabilities import row_access
from .sgd import SGD


@dataclass
class Stream:
    """What a stream has come to: plain arrays and numbers, so that it can be pickled.

    Attributes
    ----------
    theta, mean : arrays of shape (size,)
        The iterate, and the mean of the iterates so far with weights 1, 2, 3, …: a
        plain mean would remember the first steps of a stream for ever.
    steps : int
    weight : float
        Of all rows seen.
    curvature, measured : float
        Σ w_i L_i over the rows of this stream, for the automatic learning rate, and
        their weight.
    """

    theta: Floats
    mean: Floats
    steps: int = 0
    weight: float = 0.0
    curvature: float = 0.0
    measured: float = 0.0

    @classmethod
    def begin(cls, theta: Floats, weight: float = 0.0) -> "Stream":
        """Before the first row, from θ, which a fit to rows of some weight may give."""
        return cls(theta.copy(), theta.copy(), weight=weight)

    def step(self, solver: SGD, batch: Objective) -> None:
        """One step on a batch.

        Parameters
        ----------
        solver : SGD
        batch : Objective
            Over the rows of the batch, with the α of the whole.
        """
        ranking = batch.ranking
        space = row_access(batch.space)
        self.weight += ranking.total
        self.measured += ranking.total
        norms = batch.loss.smoothness * space.squared_norms()
        self.curvature += float(ranking.row_weight @ norms)
        mu = batch.alpha / self.weight
        point = batch.at(self.theta)
        weights = ranking.weights(point.losses)
        # the batch's own penalty is left out and that of the whole put in its place
        penalised = space.penalised(self.theta)
        gradient = batch.gradient(point, weights) + (mu - batch.mu) * penalised
        steepest = max(self.curvature / self.measured, float(weights @ norms))
        rate = self._rate(solver, mu, steepest, float(norms.max()))
        self.theta = self.theta - rate * gradient
        self.steps += 1
        self.mean = self.mean + 2.0 / (self.steps + 1) * (self.theta - self.mean)

    def _rate(self, solver: SGD, mu: float, steepest: float, largest: float) -> float:
        """η of this step; ``"auto"`` is short on a batch steeper than those before."""
        if solver.learning_rate == "auto":
            return 1.0 / max(4.0 * steepest + mu, 1e-300)
        if solver.learning_rate == "theory":
            return 1.0 / (mu * (self.steps + 1) + largest)
        return float(solver.learning_rate)

    def finish(self, solver: SGD) -> Floats:
        """θ as it stands: the mean of the iterates, or the last."""
        return (self.mean if solver.average else self.theta).copy()
