"""Run every benchmark, or those named: ``python -m benchmarks [NAME ...]``."""

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    known = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    )
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
        print(f"== {name}")
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
