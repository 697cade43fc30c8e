"""Held-out tails of learners of other libraries, ordinary against lrisk.

    python -m benchmarks.any_learner [PART ...] [--seeds 10] [--sets NAME ...]
        [--learners NAME ...]

*clean*: mean, 95 % quantile and superquantile .9 of held-out losses, ordinary and under
a spectrum that weights the tail. *wrong*: the same with 20 % wrong training rows (test
rows stay clean), under a spectrum that trims. Where the tail is not shown to be better
the last column says so. Other parts are those of the learners' own files
(`_any_learner_*.py`); without the library that they need they say so.

All settings were fixed before the sets outside of DEVELOPMENT were looked at.
"""

import argparse
import importlib
import importlib.util
import sys
import time
from collections import Counter
from typing import Any

from benchmarks._any_learner_data import DEVELOPMENT, SETS, available, task
from benchmarks._any_learner_report import Learner, heading, held_out, line

#: Files with LEARNERS and PARTS (functions of the parsed options, by name).
FILES = ("_any_learner_neural", "_any_learner_trees")


def found() -> list[Any]:
    """The files whose libraries are installed."""
    modules = []
    for name in FILES:
        full = f"benchmarks.{name}"
        if importlib.util.find_spec(full) is None:
            continue
        try:
            modules.append(importlib.import_module(full))
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return modules


def compare(learners: list[Learner], wrong: bool, options: argparse.Namespace) -> None:
    """One of the two tables."""
    print(heading(), flush=True)
    verdicts: Counter[str] = Counter()
    for name in options.sets:
        for learner in learners:
            if not learner.takes(task(name, 0)):
                continue
            fits: tuple[list[Any], list[Any]] = ([], [])
            for seed in range(options.seeds):
                rows = task(name, seed, wrong)
                ours = learner.trimmed if wrong else learner.tail
                for spectrum, losses in zip(("mean", ours), fits, strict=True):
                    predicted = learner.fit(rows, spectrum, seed)
                    losses.append(held_out(rows, predicted))
            shown = f"{name} (development)" if name in DEVELOPMENT else name
            text, tail = line(shown, learner.name, *fits)
            print(text, flush=True)
            if name not in DEVELOPMENT:
                verdicts[tail.verdict] += 1
    said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    print(f"\nTails outside of development: {said or 'none'}\n", flush=True)


def main(given: list[str] | None = None) -> None:
    modules = found()
    own = {name: part for module in modules for name, part in module.PARTS.items()}
    parser = argparse.ArgumentParser("benchmarks.any_learner", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", choices=["clean", "wrong", *own, []])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=None)
    parser.add_argument("--learners", nargs="+", default=None)
    options = parser.parse_args([] if given is None else given)
    if options.sets is None:
        options.sets = list(SETS) if available() else list(DEVELOPMENT)
    learners = [learner for module in modules for learner in module.LEARNERS]
    if options.learners is not None:
        learners = [one for one in learners if one.name in options.learners]
    for part in options.parts or ["clean", "wrong", *own]:
        began = time.process_time()
        print(f"### {part}\n")
        if part in own:
            own[part](options)
        else:
            compare(learners, part == "wrong", options)
        print(f"({part}: {time.process_time() - began:.0f} s of CPU)\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
