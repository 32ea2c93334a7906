"""In which order a build runs what is stale."""

from scaleright.press import Book
from scaleright.press.execute import Job
from scaleright.press.staleness import Inputs


def test_the_longest_runs_come_first_and_chapters_before_scenarios(tmp_path):
    inputs = object.__new__(Inputs)
    inputs.book = Book(tmp_path)
    timed = [Job("a"), Job("b"), Job("b", {}, "case"), Job("c")]
    for job, seconds in zip(timed, ("1.5", "7.25", "9.0", '"?"'), strict=True):
        record = inputs.book.executed(job.chapter, job.scenario).with_suffix(".json")
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(f'{{"seconds": {seconds}}}')
    jobs = [*timed, Job("new"), Job("b", {}, "new")]
    order = [job.label for job in inputs.longest_first(jobs)]
    assert order == ["c", "new", "b", "a", "b/new", "b/case"]
