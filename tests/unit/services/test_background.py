"""Jobs in the background: order, no duplicates, isolation of failures, draining within a time limit, and warming."""

import anyio
import pytest
from anyio.lowlevel import checkpoint
from unit.services.learning_memory import memory, told

from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.services.background import Background, warm


class Diary:
    """Jobs that write down when they begin and end."""

    def __init__(self):
        self.lines = []

    def job(self, name, error=None):
        async def run():
            self.lines.append(f"{name} begins")
            await checkpoint()
            if error:
                raise error
            self.lines.append(f"{name} ends")

        return run


async def test_jobs_run_one_after_another_in_order():
    diary, jobs = Diary(), Background(rest_s=0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.work)
        for name in ("a", "b"):
            jobs.put(name, diary.job(name))
        assert len(jobs) == 2
        while len(jobs):
            await checkpoint()
        jobs.put("c", diary.job("c"))
        while diary.lines[-1] != "c ends":
            await checkpoint()
        tasks.cancel_scope.cancel()
    assert diary.lines == [f"{name} {what}" for name in "abc" for what in ("begins", "ends")]


async def test_a_job_starts_after_a_while_without_calls_and_a_call_delays_it():
    seconds, slept, diary = [0.0], [], Diary()

    async def sleep(left):
        slept.append(left)
        seconds[0] += left
        if len(slept) == 1:
            seconds[0] -= 0.5
            jobs.note_call()  # somebody calls when three quarters are over
            seconds[0] += 0.5
        await checkpoint()

    jobs = Background(rest_s=2, clock=lambda: seconds[0], sleep=sleep)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.work)
        jobs.put("a", diary.job("a"))
        while not diary.lines:
            await checkpoint()
        tasks.cancel_scope.cancel()
    assert slept == [2.0, 1.5]


async def test_draining_waits_for_the_running_job():
    jobs, begun, going, done = Background(rest_s=0), anyio.Event(), anyio.Event(), []

    async def job():
        begun.set()
        await going.wait()
        done.append(True)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.work)
        jobs.put("job", job)
        await begun.wait()
        assert (len(jobs), done) == (1, [])
        going.set()
        with anyio.fail_after(300):
            await jobs.drain(float("inf"))
        assert done == [True]
        tasks.cancel_scope.cancel()


async def test_a_running_job_that_is_not_durable_is_cancelled_at_the_end():
    jobs, begun, cut = Background(rest_s=0), anyio.Event(), []

    async def asking():
        begun.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cut.append(True)
            raise

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.work)
        jobs.put("asking", asking, durable=False)
        await begun.wait()
        with anyio.fail_after(300):
            await jobs.drain(float("inf"))
        assert (cut, len(jobs)) == ([True], 0)
        tasks.cancel_scope.cancel()


async def test_an_urgent_job_runs_half_a_second_after_it_came_though_calls_go_on():
    seconds, ran = [0.0], []

    async def sleep(_left):
        seconds[0] += 0.05
        jobs.note_call()
        await anyio.lowlevel.checkpoint()

    async def job():
        ran.append(seconds[0])
        tasks.cancel_scope.cancel()

    jobs = Background(rest_s=2, clock=lambda: seconds[0], sleep=sleep)
    jobs.put("index", job, urgent=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(jobs.work)
    assert ran == [pytest.approx(0.5, abs=0.051)]  # the sleep here takes steps of .05


async def test_after_warming_the_graph_has_every_sentence(monkeypatch):
    monkeypatch.setattr("mcp_memory.services.background.WARMED_AT_ONCE", 1)
    one = await told(memory(), "Ann: Rufus met Bella. They ran.", "Bob: Bella won.")
    await warm(one.store)
    async with one.store.reading() as view:
        (space,) = view.spaces.values()
        graph = space.index(CueGraph)
        assert all(graph.cues(row) for row in range(len(space.sentences)))
        assert graph.catch_up(space, 0)
