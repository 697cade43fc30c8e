"""What the spectral paper says of figures 2 and 10 to 15, held against the records."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from experiments._curves import GAIN, LINEAR, RESOLVED, SUBLINEAR, final, shape
from experiments._experiment import Cell, Record

#: Figure → (α of μ = α/n, level of the parameters, words). Figures 2, 10 and 14 are
#: the same runs.
FIGURES = {
    "2": (1.0, "medium", "Figures 2, 10 and 14: μ = 1/n, (q, r, ρ) = (0.5, 2, 1)"),
    "11": (10.0, "medium", "Figure 11: μ = 10/n, (q, r, ρ) = (0.5, 2, 1)"),
    "12": (0.1, "medium", "Figure 12: μ = 0.1/n, (q, r, ρ) = (0.5, 2, 1)"),
    "13": (1.0, "easy", "Figure 13: μ = 1/n, (q, r, ρ) = (0.25, 1.5, 0.5)"),
    "15": (1.0, "hard", "Figure 15: μ = 1/n, (q, r, ρ) = (0.75, 2.5, 2)"),
}
SMOOTH = ("mean", "extremile", "ESRM")
BIASED = ("SGD", "SRDA")
#: The three of the paper.
COMPARED = ("LSVRG", *BIASED)
#: Figures of which the paper says that they rank the three alike.
ALIKE = {
    "at every μ (figures 10 to 12)": ("2", "11", "12"),
    "at every level of the parameters (figures 13 to 15)": ("13", "2", "15"),
}
Statement = tuple[str, str, str]


def taken(records: list[Record], figure: str) -> dict[tuple[str, str], Record]:
    """Records of a figure by data set and risk, the mean of figure 2 where it lacks."""
    found = {}
    for record in records:
        cell = record["cell"]
        plain = cell["figure"] == "2" and cell["risk"] == "mean"
        own = cell["figure"] == figure
        if own or (plain and (cell["data"], "mean") not in found):
            found[cell["data"], cell["risk"]] = record
    return found


def _finals(record: Record) -> dict[str, float]:
    return {name: final(runs["curves"]) for name, runs in record["methods"].items()}


def _label(cell: Cell) -> str:
    return f"{cell['data']} {cell['spectrum']}"


def _words(part: int, whole: int) -> str:
    share = part / max(whole, 1)
    if share == 1.0:
        return "yes"
    return "mostly" if share >= 0.75 else "partly" if share >= 0.5 else "no"


def counted(true: Iterable[tuple[str, bool]]) -> tuple[str, str]:
    """``7 of 8; not: …`` and whether it holds, of named yes-or-no answers."""
    answers = list(true)
    good = sum(answer for _, answer in answers)
    text = f"{good} of {len(answers)}"
    wrong = [name for name, answer in answers if not answer]
    if wrong and len(wrong) <= 8:
        text += f"; not: {', '.join(wrong)}"
    return text, _words(good, len(answers))


def ranked_alike(ends: Sequence[dict[str, float]]) -> bool:
    """Whether no two of the three change places; ends within GAIN count as equal."""
    for one, other in combinations(COMPARED, 2):
        apart = [end[one] - end[other] for end in ends]
        if min(apart) < -GAIN and max(apart) > GAIN:
            return False
    return True


def _ask(question: Callable[[Record], bool], among: list[Record]) -> tuple[str, str]:
    return counted((_label(r["cell"]), question(r)) for r in among)


def _kind(record: Record, method: str) -> str:
    return shape(record["methods"][method]["curves"]).kind


def _beats(record: Record) -> bool:
    ends = _finals(record)
    return ends["LSVRG"] < min(ends[name] for name in BIASED)


def _beaten(record: Record) -> bool:
    ends = _finals(record)
    return ends["LSVRG"] > max(ends[name] for name in BIASED)


def _near_best(record: Record) -> bool:
    ends = _finals(record)
    return ends["LSVRG"] <= min(ends[name] for name in BIASED) + GAIN


def _of_main(main: list[Record]) -> list[Statement]:
    """Statements on the shape of the curves of figure 2."""
    smooth = [r for r in main if r["cell"]["risk"] in SMOOTH]
    sharp = [r for r in main if r["cell"]["risk"] == "superquantile"]
    text, holds = _ask(lambda r: _kind(r, "LSVRG") in LINEAR, smooth)
    short = sum(_kind(r, "LSVRG") == "linear so far" for r in smooth)
    if short:
        text += f", {short} of them linear so far, not yet at 1e{RESOLVED:.0f}"
    return [
        (
            "LSVRG converges linearly for the mean, the extremile and the ESRM",
            text,
            holds,
        ),
        (
            "on the superquantile LSVRG is sublinear, like SGD",
            *_ask(lambda r: _kind(r, "LSVRG") in SUBLINEAR, sharp),
        ),
        (
            "SGD and SRDA are sublinear or fail to converge",
            *counted(
                (f"{name} {_label(r['cell'])}", _kind(r, name) in SUBLINEAR)
                for r in main
                for name in BIASED
            ),
        ),
    ]


def _rankings(records: list[Record]) -> list[Statement]:
    """Who ends lowest, figure by figure, and whether the figures agree."""
    found: list[Statement] = []
    shown = {r["cell"]["figure"] for r in records}
    for figure, (alpha, level, _) in FIGURES.items():
        if figure in shown:
            words = f"LSVRG generally ends below SGD and SRDA, μ = {alpha:g}/n, {level}"
            among = list(taken(records, figure).values())
            found.append((words, *_ask(_beats, among)))
    for words, figures in ALIKE.items():
        if shown.issuperset(figures):
            parts = [taken(records, figure) for figure in figures]
            answers = [
                (
                    f"{data} {risk}",
                    ranked_alike([_finals(p[data, risk]) for p in parts]),
                )
                for data, risk in parts[0]
                if "13" not in figures or risk != "mean"
            ]
            found.append((f"the same ranking of the three {words}", *counted(answers)))
    return found


def statements(records: list[Record]) -> list[Statement]:
    """What the paper says of these figures, what was found, whether it holds."""
    best = "LSVRG is the best of the three or close to it (all figures)"
    found = [
        *_of_main(list(taken(records, "2").values())),
        (best, *_ask(_near_best, records)),
        *_rankings(records),
    ]
    hard = [r for r in records if r["cell"]["spectrum"] == "superquantile:0.75"]
    if hard:
        words = "on the 0.75-superquantile LSVRG is outperformed by SGD and SRDA (both)"
        found.append((words, *_ask(_beaten, hard)))
    return found
