"""What the judgement of targets takes as given.

Numbers that can change an answer, each with its unit and where it comes from: a known
value, a simulation, or taste. `python -m benchmarks.ablation` halves and doubles them
one at a time. What only keeps arithmetic within its limits (block sizes, roundings,
steps of a descent) stays beside the code that needs it.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """In the order in which a fit meets them."""

    # -- which rows are judged ---------------------------------------------------------

    #: Distinct rows below which nobody is flagged, but beside an exact relation. Taste:
    #: of fewer a tail of the noise cannot be told from a wrong row.
    fewest_rows: int = 40
    #: Rows that references are fitted to, that distances are measured to, and on which
    #: γ and the penalty of a kernel model are compared; all are judged. Taste: time
    #: grows as the cube. Beyond as many rows evidence grows no more: what a reference
    #: of so many lacks would, too.
    reference_rows: int = 1000

    # -- the reference -----------------------------------------------------------------

    #: Widths γ tried, in units of 1/median squared distance, and penalties, in units of
    #: a row: of the reference that resists, and of the ordinary one. Taste: a grid.
    robust_gammas: tuple[float, ...] = (0.3, 1.0, 4.0)
    robust_penalties: tuple[float, ...] = (0.003, 0.03, 0.3)
    ordinary_gammas: tuple[float, ...] = (0.1, 0.3, 1.0, 4.0)
    ordinary_penalties: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 0.1, 1.0)
    #: Rows on which widths and penalties are compared. Taste: time.
    reference_search_rows: int = 400
    #: Penalties, not below those of the grid, under which half-samples are found first:
    #: the lower ones then begin near a good half. Steps under each, and under the last.
    soft_penalties: tuple[float, ...] = (3.0, 0.6)
    soft_steps: int = 4
    half_steps: int = 8
    #: Tukey's constant and Huber's in scales, for 95 % efficiency at the Gaussian.
    bisquare: float = 4.685
    huber: float = 1.345
    #: Error of the ordinary reference on flagged rows, as a share of the robust one's,
    #: below which what was flagged is structure. Simulated on step functions and gaps.
    predictable_below: float = 0.6
    #: Share of outliers from which on the reference is fitted again without them, and
    #: how often. Taste: below, they hardly move it.
    large_share: float = 0.15
    polishing_steps: int = 2

    # -- the level of the noise --------------------------------------------------------

    #: Windows over fitted values: share of the rows, least rows, and how many windows.
    #: Taste: a median of thirty has a relative error of a seventh.
    window_share: float = 0.15
    least_window: int = 30
    window_stops: int = 25
    #: Power of the correction by neighbours: less than one, since medians of few rows
    #: vary by themselves. Largest factor of the local on the common level. Taste.
    neighbour_power: float = 0.7
    largest_noise_factor: float = 10.0
    #: Noise, as a share of the relation's spread, that is a flexible model's own error.
    #: Simulated: smooth relations without noise.
    model_error: float = 0.1
    #: The same for a line: rounding, and the bend by the smallest penalty.
    least_noise: float = 1e-4

    # -- one population of residuals or two --------------------------------------------

    #: Least degrees of freedom of one population alone, and of the core beside others:
    #: a core with tails as heavy as outliers would be no core.
    least_freedom_alone: float = 1.5
    least_freedom_of_core: float = 3.0
    #: The same of the tail by which rows far out may be right: noise has a variance.
    #: Chosen of 1.5, 2 and 3 on boston, diabetes and synthetic tables, under an earlier
    #: form of the tail: with 3 two to five times as many flags were false as expected
    #: beside gross errors, with 1.5 a quarter of those expected beside moderate ones.
    #: Over all tables 2 errs both ways, too: see docs/robust.md.
    least_freedom_of_tail: float = 2.0
    #: Least distance of outliers from the core, root mean square, in core scales, and
    #: of the rows of a group from the line of the others. A Gaussian is beyond six once
    #: in 5·10⁸ rows.
    apart: float = 6.0
    #: Scales from where on a residual counts by its logarithm, and where that ends: at
    #: a hundred scales, 52 on that scale. How wide the outliers are must not say what
    #: is one near the core.
    far_residual: float = 20.0
    farthest_residual: float = 52.0
    #: Core scales within which no row is an outlier: a Gaussian's 95 %.
    never_within: float = 2.0
    #: Evidence a + b/n that two populations need, in twice the log likelihood ratio
    #: less its BIC penalty. Simulated: on clean tables (normal, lognormal, t₃,
    #: heteroscedastic, non-linear, whole numbers; 50 to 200 rows) one population stayed
    #: below it but for a step function at 50 rows.
    evidence: float = 2.0
    evidence_of_few: float = 400.0
    #: Share from which on two populations are halves, and nobody can say which of them
    #: are the outliers: of one width, of any. Without a limit of its own for one width
    #: predictions of a model that learnt from wrong values are judged otherwise
    #: (`test_a_wrong_value_is_named_before_a_target_that_fits`).
    equal_narrow: float = 0.45
    equal_wide: float = 0.48
    #: Scales within which a residual is exact. The scale of exact data is that of their
    #: rounding and of the model's penalty.
    exact: float = 0.05
    #: Largest share of rows that need not be exact beside an exact relation, or that a
    #: group apart has.
    largest_minority: float = 0.35
    #: Chance above which a row is flagged. Taste: expected false flags stay below 30 %.
    flagged_above: float = 0.7
    #: Least rows of a tail.
    least_tail: int = 8
    #: What is not expected: a row so far out that fewer lie beyond it in a table, which
    #: one clean table of twenty has; shares outside an interval, at each of its ends.
    unexpected: float = 0.05
    #: What a residual adds to a chance at most: it orders rows of equal chance.
    order: float = 1e-3
    #: Core scales on either side of its mode that are the core.
    core_reach: float = 2.5

    #: Rows off by so many last digits of the target are rounded. A feature that was
    #: rounded, too, is half a digit more or less.
    rounded_by: float = 1.5
    #: Rows that make a pattern, of rounding or of values in another unit: two may agree
    #: by chance. Taste.
    fewest_alike: int = 3

    # -- the share and its interval ----------------------------------------------------

    #: Degrees of freedom of a core that is all but Gaussian.
    nearly_gaussian: float = 20.0
    #: Resamples behind the interval.
    resamples: int = 25
    #: Evidence below which an interval reaches down to zero: odds of 400 to 1.
    weak_evidence: float = 12.0

    # -- values of a feature in another unit -------------------------------------------

    #: Scales, on its own side of the median, beyond which a value is far out, and how
    #: much farther than the rest the nearest of them must be. Taste: factors of ten.
    far_value: float = 8.0
    value_gap: float = 2.0
    #: Distinct values below which a column has no scale to be far by.
    fewest_values: int = 10
    #: Largest share of rows that may be far out in one column.
    most_far_values: float = 0.25
    #: Misfit with the expected values, relative to that with the given ones.
    believed_below: float = 0.7
    #: Chance given to a row with a value that y contradicts.
    wrong_value_chance: float = 0.9

    # -- groups of rows apart in X -----------------------------------------------------

    #: Least rows of a group, and neighbours of a row that must be near: fewer may be
    #: copies or other stray rows. Taste.
    fewest_of_group: int = 5
    #: Neighbours that link rows, and rows up to which links are looked for (time).
    links: int = 10
    linked_rows: int = 2000
    #: Share of the usual distance to the tenth neighbour within which rows are close,
    #: and of the others' radius that a tight group has at most. Taste.
    close: float = 0.6
    tight: float = 0.5
    #: Deviations of the others by which a tight group must lie away from them.
    group_away: float = 5.0
    #: Radii of a group within which all rows are of it.
    group_round: float = 2.0
    #: Most groups of a kind.
    most_groups: int = 5
    #: Least gain in squared error by leaving out a group.
    group_gain: float = 0.05

    # -- the line of the majority ------------------------------------------------------

    #: Rows that starts look at, at least, and for each parameter. Simulated: of 1000
    #: rows with 31 parameters and 30 % wrong at one end, 600 missed the line in 3 of 40
    #: draws, all of them in one. Elemental starts, and those that are taken to the end.
    #: With 30 % wrong rows and 11 parameters, or 12 % and 31, one of 50 random starts
    #: has none: that none of 500 has none has a chance of 1 in 20,000.
    half_rows: int = 600
    half_rows_a_parameter: int = 40
    starts: int = 500
    best_starts: int = 5
    #: Columns up to which elemental starts can be hoped to hold right rows only, and
    #: parameters up to which some do, beside 30 % of wrong ones: see above.
    elemental_columns: int = 30
    elemental_parameters: int = 11
    #: Principal directions in which rows far out are looked for.
    directions: int = 10
    #: Rows for each parameter below which a half says nothing: its line passes through.
    rows_a_parameter: int = 4
    #: Spreads from the median beyond which a target has no say in the first line of so
    #: few. Taste: what lies nearer cannot move it by more than the others' own spread
    #: and is judged by the line.
    absurd: float = 1e3
    #: Leverage, in units of the mean p/n, up to which a row is near. Rows of skewed
    #: columns reach four times the mean; ten is 5 deviations of one column, 11 of ten.
    usual_leverage: float = 10.0
    #: Rounds of weighing, and C-steps, at most.
    rounds: int = 12
    #: Scales beyond which a residual counts like one at the edge: a Gaussian's one in
    #: 370.
    held_beyond: float = 3.0
    #: Scales beyond which the others contradict a row far out: one in 16,000.
    contradicted_beyond: float = 4.0
    #: Scales beyond which a residual has no say. Student's t of five degrees, the
    #: heaviest noise that is promised for, is beyond once in 2,900 rows.
    left_out_beyond: float = 8.0
    #: Share of a tail, and the most that it stretches the first two numbers of scales
    #: above: a little more than Student's t of five degrees (1.45). Rows that are wrong
    #: look like a tail, too.
    tail: float = 0.01
    heaviest_tail: float = 1.5
    #: What a row that is left out must gain for the others, in log likelihood: a
    #: residual of the noise has 1.4, one anywhere within ten scales on either side 3.
    #: So the line of the majority counts if it leaves out 30 % of the rows and the
    #: others are tighter by half, or a single row and they are tighter at all.
    cost_of_a_row: float = 1.5
    #: How much tighter the others must be about a line that leaves out rows of which
    #: nothing but the line says that they are wrong: parts of a curved relation are
    #: fitted almost three times as well as the whole (a logarithm over two decades).
    tighter: float = 3.0

    # -- the fit itself ----------------------------------------------------------------

    #: Chance above which a row takes no part.
    dropped_above: float = 0.5
    #: Robust scales from the median up to which a value counts in the scale of its
    #: column: what ordinary columns never reach.
    most_scales: float = 10.0


CONSTANTS = Constants()
