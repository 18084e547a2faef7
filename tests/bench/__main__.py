"""Measure speed, growth, chains and learning: ``PYTHONPATH=tests python -m bench``, from the checkout.

    python -m bench [--large] [--only recall]         # speed and memory, some three minutes
    python -m bench --tree                            # chains that only recall's loop can follow to the end
    python -m bench --learning DATA [--plot FILE]     # what feedback is worth on a data set
    python -m bench --grow FOLDER [--sentences N]     # one store that grows to a million sentences

Settings are those of the environment and the configuration file, but for the place of the store.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.growth import grow
from bench.learning import learning
from bench.speed import PARTS, bench
from bench.tree import bench_tree

from mcp_memory.errors import ConfigurationError
from mcp_memory.settings import load


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the arguments say, print it, and return 0; 2 where they cannot be followed."""
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also at 100,000 sentences (takes long)")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--tree", action="store_true")
    instead.add_argument("--learning", type=Path, metavar="DATA")
    parser.add_argument("--questions", type=int, metavar="N", help="of --learning: an even sample of so many")
    instead.add_argument("--grow", type=Path, metavar="FOLDER", help="repeat it to go on after a stop")
    parser.add_argument("--sentences", type=int, metavar="N", default=1_000_000, help="of --grow: where to stop")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help='of --learning and --grow: .svg, or .png with the extra "plot"'
    )
    options = parser.parse_args(arguments)
    _check(parser, options)
    try:
        settings = load(None)
        if options.learning is not None:
            return learning(
                settings, options.learning, questions=options.questions, plot=options.plot, output=options.json
            )
        if options.tree:
            return bench_tree(settings, output=options.json)
        if options.grow is not None:
            return grow(settings, options.grow, sentences=options.sentences, output=options.json, plot=options.plot)
        return bench(settings, large=options.large, output=options.json, parts=options.only)
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return 2


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Reject options without effect, before anything is measured."""
    for option, file in (("--json", options.json), ("--plot", options.plot)):
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            parser.error(f"{option} {file}: " + ("that is a folder" if file.is_dir() else "there is no such folder"))
    learning = options.learning is not None
    if (learning or options.tree or options.grow) and (options.large or options.only):
        parser.error("--large and --only belong to the measurements of speed, not to --learning, --tree or --grow")
    if not learning and options.questions:
        parser.error("--questions belongs to --learning")
    if not (learning or options.grow) and options.plot:
        parser.error("--plot belongs to --learning and --grow")


if __name__ == "__main__":
    raise SystemExit(main())
