"""Count the dates without a year that are read far from their telling, in dialogues with dated sessions.

    python tests/extraction/far_dates.py [--show 60] [--seed 0] DIALOGUES.conversations.jsonl…

Who says "5 May" without a year nearly always means the one within half a year. So a date more than 183 days from its
message's time is probably wrong. Each line of a file is ``{id, speakers, sessions: [{session_id, date, turns:
[{turn_id, speaker, text}]}]}``. ``--show N`` prints N random dates with their sentence, for a reader to judge.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.expressions import MONTH, SEASON, WEEKDAY, compiled
from mcp_memory.language.iso import DAY, parse
from mcp_memory.language.segments import split
from mcp_memory.language.stated import day_in_words, in_words, stated_times

HALF_A_YEAR = 183 * DAY
_NAMED = compiled(
    rf"\b(?:{MONTH}|{WEEKDAY}|{SEASON}\b|Christmas|Xmas|Easter|Halloween|Valentine|Good\sFriday|Boxing|New\sYear)"
)
_YEAR = compiled(r"\d{4}|['’]\d\d\b|year\b(?<!new\syear)")


class _Date(NamedTuple):
    """A date without a year: where it was read, and how far from the telling."""

    said_at: Millis
    sentence: str
    words: str
    meant: str
    days: int


def dates_without_a_year(file: Path) -> Iterator[_Date]:
    """Yield the dates of a file's messages that name a month, a weekday, a season or a holiday without a year."""
    for line in file.read_text("utf-8").splitlines():
        for session in json.loads(line)["sessions"]:
            said_at = _moment(session["date"])
            for turn in session["turns"]:
                text = turn["text"]
                for start, end in split(text):
                    for time in stated_times(text, said_at, start, end):
                        words = text[time.start : time.end]
                        if time.relative and _NAMED.search(words) and not _YEAR.search(words):
                            meant = in_words(time.since, time.until, time.grain)
                            distance = _distance(time, said_at) // DAY
                            yield _Date(said_at, " ".join(text[start:end].split()), words, meant, distance)


def _distance(time: StatedTime, said_at: Millis) -> Millis:
    ends = [end for end in (time.since, time.until - 1) if BEGINNING < end < FOREVER - 1]
    inside = time.since <= said_at < time.until and len(ends) == 2
    return 0 if inside else min(abs(end - said_at) for end in ends)


def _moment(date: str) -> Millis:
    """Return the time of a session, ISO-8601 or "1:56 pm on 8 May, 2023"."""
    try:
        return parse(date)[0]
    except ValueError:
        spelt = re.sub(r"\s+", " ", date.replace(",", "")).strip()
        return parse(datetime.strptime(spelt, "%I:%M %p on %d %B %Y").isoformat())[0]


def main() -> None:
    """Print the counts for each file and, where asked, random dates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N random dates of each file")
    parser.add_argument("--far", action="store_true", help="print the far dates only")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for file in args.files:
        dates = list(dates_without_a_year(file))
        far = [date for date in dates if date.days * DAY > HALF_A_YEAR]
        shown = far if args.far else random.Random(args.seed).sample(dates, min(args.show, len(dates)))
        for date in shown:
            sys.stdout.write(
                f"said {day_in_words(date.said_at)}: {date.words!r} = {date.meant} | {date.sentence[:240]}\n"
            )
        share = len(far) / len(dates) if dates else 0.0
        sys.stdout.write(f"{file.name}: {len(far)} of {len(dates)} dates without a year are far ({share:.1%})\n")


if __name__ == "__main__":
    main()
