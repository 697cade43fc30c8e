"""λ of rows on a cluster, as a Dask array that is computed when it is asked for."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from ..partitions.at import RankWeights
from ..partitions.grid import Grid
from ..partitions.objective import PartitionedObjective
from ..partitions.replay import Told
from ..solvers.solution import Solution
from .actors import Actors
from .chunks import Recipe, Steps, Weighing


def weighing(
    parted: PartitionedObjective, engine: Actors, solution: Solution
) -> list[Told]:
    """What each part is told for the λ of a solution."""
    weights: Any = solution.weights
    if weights is None:  # that of the mean: all losses in one bin
        calls: Told = [("hold", (Grid(0, 62, 1), np.array([1.0 / parted.total])))]
    elif isinstance(weights, RankWeights):
        grid, density = weights.ranks.grid, weights.ranks.density
        at = ("at", (parted.raw(weights.theta), grid))
        holding = ("hold", (grid, Steps.of(density)))
        calls = [("prepare", (parted.shift,)), at, holding]
    else:
        parted.hold(weights)
        return [engine.journal.of_part(i) for i in range(engine.n_parts)]
    return [calls] * engine.n_parts


def risk_weights(
    engine: Actors,
    chunks: list[Any],
    recipe: Recipe,
    calls: list[Told],
) -> Any:
    """λ of all rows, found from them when it is asked for."""
    pieces, rules = [], {}
    for part, own in zip(engine.parts, calls, strict=True):
        if id(own) not in rules:  # one node of the graph, which may be megabytes
            rule = delayed(Weighing(recipe, own), traverse=False, pure=False)
            rules[id(own)] = rule
        start = 0
        for k in part:
            facts = engine.facts[k]
            piece = rules[id(own)](chunks[k], start)
            pieces.append(da.from_delayed(piece, (facts.rows,), np.float64))
            start += recipe.kept(facts)
    return da.concatenate(pieces)
