"""The README's example runs and says what the README says."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_example(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    lines = [line for line in code.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 15
    exec(compile(code, "README", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    (comment,) = re.findall(r"^# (objective .*)$", code, re.MULTILINE)
    assert printed[2].split(",")[0] == comment.split(",")[0]
