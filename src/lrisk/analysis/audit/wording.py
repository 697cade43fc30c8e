"""The audit in sentences: its summary, what to do next, what changed since before.

Sentences are made of the result alone, so that a result without its values, as a report
that tells none is made of, says the same without them.
"""

import math

import numpy as np

from .crossfit import BLOCK
from .facts import BesideConstant, LossCurve
from .gains import is_clear
from .numbers import counted, number, percent
from .result import AuditResult
from .sections import by_section
from .share import MOST_FALSE
from .tails import FAR_OUT

#: Rows below which nothing is judged.
FEWEST_JUDGED = {"regression": 40, "classification": 50}
#: Share of labels that may be wrong from which on it is said.
UNDECIDED = 0.05
#: What no audit of this kind sees.
LIMIT = (
    "Errors that follow a rule of their own, or that a column marks exactly, look like "
    "structure and do not show."
)
#: What to do if nothing was found; it must not sound as if all had been looked for.
NOTHING_FOUND = (
    "Nothing that was checked suggests leaving rows out of training. Checked were rows "
    "that do not fit, exchanged columns, odd values of single columns, copies of rows, "
    "and sources that fit worse; odd values within the usual range of their column do "
    "not show."
)
#: What words mean, and how rows are counted.
NOISE_SCALE = (
    "A noise scale is how far rows like this one usually lie from what is expected of "
    "them."
)
COUNTING = "Rows count from 1, the header left out."
GLOSSARY = {
    "does not fit": "The row's target, or a value of it, is not what the other rows "
    "suggest. It may be true all the same, and the model too simple.",
    "score": "The chance that the row does not fit, by models that have not seen it.",
    "flagged": "Of a score above the threshold, or judged wrong by a person.",
    "expected": "What models that have not seen the row predict for it; of your own "
    "model, less what it is off by as a rule.",
    "noise scale": NOISE_SCALE,
    "suggested": "What would make the row fit: the value without the slip, or the "
    "likeliest class. Compare it with the source.",
    "finding": "Something that a section claims of some rows; see false alarms.",
    "false alarm": "A flagged row that fits after all, or a finding that is chance.",
}
FALSE_ALARMS = (
    "Rows are flagged for as long as, by their scores, at most a fifth of them fits "
    "after all. Scores may be too sure: the number of false alarms that is stated is "
    "no less than what the noise of the other rows would bring so far out. Of "
    "everything else that is claimed, at most one clean table in ten gets a false "
    "claim, all sections together."
)


def too_few(result: AuditResult) -> bool:
    """Whether there are too few rows to say anything."""
    return result.n_used < FEWEST_JUDGED.get(result.task, 0)


def is_told(result: AuditResult) -> bool:
    """Whether the share of flagged rows was given."""
    return bool(result.options.get("contamination", "auto") != "auto")


def sampling(result: AuditResult) -> str:
    """How many rows the fits were trained on, if not on all."""
    if not 0 < result.n_training < result.n_used:
        return ""
    return (
        f"The fits were trained on {result.n_training} of {result.n_used} rows, drawn "
        f"at random; all rows were judged, {BLOCK} at a time."
    )


def tail_note(result: AuditResult) -> str:
    """What was done instead of what was asked, if the tail-risk fit collapsed."""
    asked, used = str(result.options.get("spectrum", "")), result.tail_spectrum
    if used in ("", asked):
        return ""
    return (
        f"Under {asked} the best fit ignores all columns and predicts the same for "
        f"every row; {used} was used instead."
    )


def loss_groups(result: AuditResult) -> list[tuple[str, list[LossCurve]]]:
    """Losses to show, and over which rows they are: those nobody doubts come second."""
    groups = [(f"all {counted(result.n_used, 'row')}", result.losses)]
    kept, found = _undoubted(result)
    if kept < result.n_used and result.unflagged_losses:
        groups.append((f"the {counted(kept, 'row')} {found}", result.unflagged_losses))
    return groups


def _undoubted(result: AuditResult) -> tuple[int, str]:
    """Over how many rows `unflagged_losses` are, and what was not found of them."""
    unflagged = result.n_used - int(np.sum(result.flags))
    rows = next((curve.rows for curve in result.unflagged_losses), 0) or unflagged
    if rows == unflagged:
        return rows, "not flagged"
    return rows, "neither flagged nor with a slip or an odd value"


def tail_words(curve: LossCurve, digits: int = 3) -> str:
    """The mean of the tail, and its interval if there is one."""
    words = number(curve.superquantile, digits)
    low, high = curve.superquantile_low, curve.superquantile_high
    return words if math.isnan(high) else f"{words} ({number(low)}–{number(high)})"


def looks_clean(result: AuditResult) -> bool:
    """Whether no row is flagged and no section found anything.

    Rows far out are not called clean even where noise with a heavy tail explains them,
    and none are on the word of a model that is worse than a constant. Of few rows, of a
    given share of rows, and against a person's word nothing is said.
    """
    if too_few(result) or is_told(result) or _judged(result)[0]:
        return False
    if result.far_rows or result.tail_rows or undecided(result):
        return False
    if result.beside_constant is not None and result.beside_constant.worse:
        return False
    return result.flagged_by_fits == 0 and not result.findings


def undecided(result: AuditResult) -> bool:
    """Whether many labels may be wrong, or the classes merely overlap."""
    high = result.whole_interval[1]
    quiet = result.task == "classification" and result.flagged_by_fits == 0
    return quiet and high >= UNDECIDED and not (too_few(result) or is_told(result))


def summary(result: AuditResult) -> str:
    """A few sentences on how many rows do not fit, and what else was found."""
    found = [
        f"{section.title}: {counted(len(findings), 'finding')}."
        for section, findings in by_section(result.findings)
    ]
    told = [*_of_model(result), *_verdict(result), *found, *_of_verdicts(result)]
    return " ".join(told)


def beside_constant_words(compared: BesideConstant) -> str:
    """The two figures: of the model, and of the constant."""
    show = percent if compared.measure == "accuracy" else number
    own, other = show(compared.by_model, 3), show(compared.by_constant, 3)
    rows = counted(compared.rows, "held-out row")
    return f"{compared.measure} of {rows} {own}, always the {compared.constant} {other}"


def _of_model(result: AuditResult) -> list[str]:
    """What the user's own model is worth, where it is not worth much."""
    compared, told = result.beside_constant, []
    if compared is None:
        return []
    if compared.worse:
        told.append(
            f"Rows were judged by {compared.label}, which did worse than a constant "
            f"({beside_constant_words(compared)}): flags, scores and shares that "
            "follow from it are worth little."
        )
    if compared.measure == "accuracy":
        told.append(
            f"Labels were judged by {compared.label} and by the audit's own fits "
            "together: neither alone decides."
        )
    if abs(compared.offset) > compared.noise_scale:
        side = "low" if compared.offset > 0.0 else "high"
        told.append(
            f"The values expected by {compared.label} were typically "
            f"{number(abs(compared.offset))} too {side}; this was corrected before "
            "rows were judged."
        )
    return told


def _verdict(result: AuditResult) -> list[str]:
    n, flagged = result.n_used, result.flagged_by_fits
    told = []
    if too_few(result):
        least = FEWEST_JUDGED[result.task]
        told = [f"Too few rows to judge: {n}, where at least {least} are needed."]
        if flagged == 0:
            return [*told, "The fits flag nothing."]
    if is_told(result):
        if flagged == 0:
            share = f"{float(result.options['contamination']):g}"
            told.append(f"A share of {share} is less than one of {n} rows.")
            return [*told, "None is flagged, and nothing was judged."]
        rows = counted(flagged, "row is", "rows are")
        told.append(
            f"As asked, the least fitting {rows} flagged, of {n} "
            f"({percent(flagged / n)}); whether they should be was not judged."
        )
        return told
    if looks_clean(result):
        return ["The data looks clean: no row clearly does not fit, and no section "
                "found anything.", LIMIT]  # fmt: skip
    if flagged == 0:
        return [*told, *_far(result), LIMIT]
    return [*told, *_flagged(result), LIMIT]


def _far(result: AuditResult) -> list[str]:
    """Nothing is flagged, and something is odd."""
    rows, odd = result.far_rows, []
    if rows:
        lie = counted(rows, "row lies", "rows lie")
        odd.append(f"{lie} farther out than the noise of the others explains")
    if result.tail_rows:
        row = "other row" if rows else "row"
        lie = counted(result.tail_rows, f"{row} lies", f"{row}s lie")
        odd.append(
            f"{lie} beyond {number(FAR_OUT)} noise scales, as noise with a heavy tail "
            "would bring, and errors too"
        )
    told = ["The fits flag no row."]
    if odd:
        told = [
            f"Nothing is flagged with confidence, but {'; '.join(odd)}: look at them."
        ]
    if undecided(result):
        high = percent(result.whole_interval[1])
        told.append(
            "Classes that overlap explain the labels as well as wrong ones would, in "
            f"up to {high} of rows: this table cannot tell."
        )
    return told


def _flagged(result: AuditResult) -> list[str]:
    n, flagged = result.n_used, result.flagged_by_fits
    low, high = result.interval
    false = result.expected_false_flags
    about = f"about {false:.0f}" if false >= 0.5 else "fewer than one"
    verb = "does" if flagged == 1 else "do"
    alarms = "may be false alarms" if false >= 1.5 else "may be a false alarm"
    told = [
        f"{flagged} of {n} rows {verb} not fit ({percent(flagged / n)}), of which "
        f"{about} {alarms}."
    ]
    if false >= 0.5 and false > MOST_FALSE * flagged:
        told.append(
            "That many because the noise of the other rows reaches far out and may "
            "bring such rows, too: begin with those of the highest scores."
        )
    told.append(
        f"Estimated share of rows that do not fit: {percent(result.contamination)}, "
        f"between {percent(low)} and {percent(high)}."
    )
    if result.task == "classification":
        told.append("Columns contradict these labels, which are wrong, or chance.")
    net = (flagged - false) / n
    first, last = result.whole_interval
    if net > last:
        told.append(
            f"All rows together suggest fewer, between {percent(first)} and "
            f"{percent(last)}, which leaves no room for the rows flagged one by one: "
            "these count here."
        )
    elif net < first:
        told.append(
            f"All rows together suggest more, between {percent(first)} and "
            f"{percent(last)}, than can be named one by one."
        )
    return told


def _judged(result: AuditResult) -> tuple[int, int]:
    """How many rows a person called wrong, and right."""
    said = result.verdicts or {}
    wrong = int(said.get("wrong", 0.0))
    return wrong, int(said.get("judged", 0.0)) - wrong


def _of_verdicts(result: AuditResult) -> list[str]:
    wrong, right = _judged(result)
    if not wrong + right:
        return []
    parts = [f"{counted(wrong, 'row')} wrong"] if wrong else []
    parts += [f"{counted(right, 'row')} right"] if right else []
    flagged = int(np.sum(result.flags))
    now = counted(flagged, "row is", "rows are")
    return [f"You judged {' and '.join(parts)}; with that, {now} flagged."]


def next_steps(result: AuditResult) -> list[str]:
    """What a person would do now."""
    steps = [
        f"Check how the target was read: {column.remark}"
        for column in result.columns
        if column.kind == "target" and column.note
    ]
    compared = result.beside_constant
    if compared is not None and compared.worse:
        steps.append(
            f"First find out why {compared.label} did worse than a constant (rows in "
            "another order, another unit or target, too little learnt), or audit "
            "without."
        )
    if result.looks_clean:
        steps.append(NOTHING_FOUND)
    steps += [section.advice for section, _ in by_section(result.findings)]
    if not result.looks_clean:
        steps += _when_in_doubt(result)
    if is_clear(result.tail_gain, result.tail_gain_error):
        risk = "RiskRegressor" if result.task == "regression" else "RiskClassifier"
        spectrum = result.tail_spectrum or result.options.get("spectrum", "")
        steps.append(
            f'If the worst cases matter, train lrisk.{risk}("{spectrum}"): on held-out '
            f"rows {_undoubted(result)[1]} its tail loss is "
            f"{percent(result.tail_gain)} lower than that of the other fits "
            f"(± {percent(result.tail_gain_error)})."
        )
    dropped = [c.name for c in result.columns if c.kind in ("identifier", "text")]
    if dropped:
        names = ", ".join(name[:40] for name in dropped[:5])
        steps.append(f"Columns left out as identifiers or text: {names}.")
    if sampling(result):
        steps.append("For more certainty audit parts of the table separately.")
    return steps


def _when_in_doubt(result: AuditResult) -> list[str]:
    robust = "RobustRegressor" if result.task == "regression" else "RobustClassifier"
    flagged, (wrong, right) = int(np.sum(result.flags)), _judged(result)
    steps = [f"Correct {counted(wrong, 'row')} that you judged wrong."] if wrong else []
    if too_few(result):
        steps.append("Gather more rows before you trust any of this.")
    if (result.far_rows or result.tail_rows) and not flagged:
        steps.append("Look at the least fitting rows: they lie far out.")
    if flagged > wrong + right:
        worst = "flagged row" if flagged == 1 else f"{min(flagged, 20)} worst rows"
        steps.append(
            f"Look at the {worst} first, write 'wrong' or 'right' into the verdict "
            "column of rows.csv, and give the file back (--verdicts rows.csv): it "
            "measures how often the flags are right."
        )
    if flagged:
        steps.append(_until_checked(result, robust))
    return steps


def _until_checked(result: AuditResult, robust: str) -> str:
    """What to train meanwhile: what errs least on rows that nobody doubts."""
    curves = {curve.name: curve for curve in result.unflagged_losses}
    mean = {
        name: curves[name].mean for name in ("ordinary", "robust") if name in curves
    }
    if len(mean) == 2 and mean["robust"] > mean["ordinary"]:
        loss = "mean |error|" if result.task == "regression" else "mean log loss"
        return (
            "Until the rows are checked, keep them in training: on held-out rows "
            f"{_undoubted(result)[1]} the ordinary fit is no worse for it ({loss} "
            f"{number(mean['ordinary'])}, of lrisk.{robust} {number(mean['robust'])})."
        )
    return (
        f"Until the rows are checked, train lrisk.{robust}() on all rows rather than "
        "deleting the flagged ones."
    )
