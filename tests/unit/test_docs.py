"""The documents and the code refer to each other, and no reference leads nowhere."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "docs" / "DESIGN.md").read_text(encoding="utf-8")
REFERENCE = re.compile(r"DESIGN(?:\.md)?\s+(?P<first>[DILW]?\d+(?:\.\d+)?)(?:\s+step\s+(?P<step>\d+))?")
FURTHER = re.compile(r"(?:,|,? and|,? or|,? to)\s+(?P<next>[DILW]\d+|\d\.\d)\b")
OUTDATED = re.compile(r"(?<![\w.§-])(?:C\.[0-4](?:\.\d)?|C-\d\d|I-\d+|W-\d+|L\d+ of C)\b(?!\s*\))")
TEXTS = ("mcp_memory/**/*.py", "tests/**/*.py", "prompts/**/*", "resources/**/*", "docs/*.md", "*.md", "*.toml")


def _texts() -> list[Path]:
    return [
        path
        for pattern in TEXTS
        for path in sorted(ROOT.glob(pattern))
        if path.suffix in (".py", ".md", ".toml", ".txt")
    ]


def _defined() -> set[str]:
    """Return every label that the design document defines; steps as ``4 step 5``."""
    labels = set(re.findall(r"^#+ (\d+(?:\.\d+)?) ", DESIGN, re.MULTILINE))
    labels |= set(re.findall(r"^(?:\| |- \*\*)([DILW]\d+)\b", DESIGN, re.MULTILINE))
    for chapter in re.split(r"^(?=# \d+ )", DESIGN, flags=re.MULTILINE)[1:]:
        number = chapter.split()[1]
        steps = re.findall(r"^(\d+)\. |\*\*step (\d+)\*\*", chapter, re.MULTILINE)
        labels |= {f"{number} step {listed or bold}" for listed, bold in steps}
    return labels


def _references(text: str) -> list[str]:
    """Return the labels that a text refers to, also those that follow the first: "DESIGN I12 to I16"."""
    joined = re.sub(r"\n\s*(?:#\s*)?", " ", text)
    labels: list[str] = []
    for match in REFERENCE.finditer(joined):
        labels.append(match["first"] + (f" step {match['step']}" if match["step"] else ""))
        end = match.end()
        while further := FURTHER.match(joined, end):
            labels.append(further["next"])
            end = further.end()
    return labels


def test_every_reference_to_the_design_resolves() -> None:
    defined = _defined()
    missing = {
        path.relative_to(ROOT).as_posix(): unknown
        for path in _texts()
        if path != Path(__file__) and (unknown := set(_references(path.read_text(encoding="utf-8"))) - defined)
    }
    assert not missing, "docs/DESIGN.md does not define these labels"


def test_a_wrong_reference_would_be_noticed() -> None:
    assert _references("as DESIGN D99\n    and D33 say") == ["D99", "D33"]
    assert "D99" not in _defined()
    assert {"1.3", "2.6", "D33", "I38", "L6", "W8", "4 step 5", "1 step 5"} <= _defined()


def test_no_reference_has_an_outdated_form() -> None:
    outdated = {
        path.relative_to(ROOT).as_posix(): found
        for path in _texts()
        if path.suffix == ".py"
        and path != Path(__file__)
        and (found := OUTDATED.findall(path.read_text(encoding="utf-8")))
    }
    assert not outdated
