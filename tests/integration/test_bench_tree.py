"""A smaller run of ``bench --tree`` with a real store and embedder."""

import json

import anyio
import pytest
from bench import tree as command
from bench.__main__ import main
from bench.subjects import opened
from bench.tree import FORMS, WAYS, plant, reaches, tree

from mcp_memory.settings import Settings

LOOP, *LOOKS = [way for way in WAYS if way.loop or not way.spare]


@pytest.mark.parametrize("form", FORMS)
def test_the_loop_reaches_a_leaf_five_steps_away_but_a_single_search_does_not(tmp_path, form):
    grown = tree(0, 5, form)

    async def asked():
        async with opened(Settings(), tmp_path / "store") as memory:
            await plant(memory, grown, "tree")
            return {
                way: await reaches(way.of(memory), grown, grown.questions[0], "tree", way.spare)
                for way in (LOOP, *LOOKS)
            }

    assert anyio.run(asked) == {LOOP: True} | dict.fromkeys(LOOKS, False)


def test_the_command_prints_a_line_for_each_depth_and_writes_every_share_as_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "TREES", {1: 1, 2: 1})
    monkeypatch.setenv("MCP_MEMORY_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("", encoding="utf-8")

    assert main(["--tree", "--json", str(tmp_path / "figures.json")]) == 0

    told = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))["figures"]
    shares = {(figure["part"], figure["name"]): figure["value"] for figure in told}
    assert len(shares) == 2 * len(WAYS)
    assert shares["tree of depth 1", "loop, d + 6"] == 100
    shown = capsys.readouterr()
    assert "depth 2: the loop reaches" in shown.err
    assert [line.split()[0] for line in shown.out.splitlines()[3:]] == ["1", "2"]


def test_options_that_do_not_belong_together_are_refused(capsys):
    with pytest.raises(SystemExit) as told:
        main(["--tree", "--learning", "x"])
    assert told.value.code == 2
    assert "--tree" in capsys.readouterr().err
