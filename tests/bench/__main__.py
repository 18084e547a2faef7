"""Measure speed and growth: ``PYTHONPATH=tests python -m bench``, from the checkout.

    python -m bench [--large] [--only recall]         # speed and memory, some three minutes
    python -m bench --grow FOLDER [--sentences N]     # one store that grows to a million sentences

Settings are those of the environment and the configuration file, but for the place of the store.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.growth import grow
from bench.speed import PARTS, bench

from mcp_memory.errors import ConfigurationError
from mcp_memory.settings import load


def main(arguments: list[str] | None = None) -> int:
    """Measure what the arguments say, print it, and return 0; 2 where the settings are wrong."""
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also at 100,000 sentences (takes long)")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--grow", type=Path, metavar="FOLDER", help="repeat it to go on after a stop")
    parser.add_argument("--sentences", type=int, metavar="N", default=1_000_000, help="of --grow: where to stop")
    options = parser.parse_args(arguments)
    try:
        settings = load(None)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2
    if options.grow is not None:
        return grow(settings, options.grow, options.sentences)
    return bench(settings, large=options.large, output=options.json, parts=options.only or PARTS)


if __name__ == "__main__":
    raise SystemExit(main())
