"""Files whose frames are shared among workers: their shares first, and then a task that joins these."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from .records import Records
from .tasks import FAILED, SHARED, Outcome, Task, share_path


@dataclass
class _SplitFile:
    """A file, and the outcomes of its shares by number."""

    task: Task
    attempts: int
    seconds: float
    done: dict[int, Outcome] = field(default_factory=dict)
    failure: Outcome | None = None
    joined: Outcome | None = None


class SplitFiles:
    """Files whose frames are shared. There are no more of them at a time than workers have tasks."""

    def __init__(self, records: Records) -> None:
        """Start without files; outcomes of shares are kept in the records, from which a run resumes."""
        self._records = records
        self._files: dict[str, _SplitFile] = {}
        self._waiting: deque[Task] = deque()

    def tasks(self) -> Iterator[Task]:
        """Yield the tasks that wait, and remove them."""
        while self._waiting:
            yield self._waiting.popleft()

    def divide(self, task: Task) -> Iterator[Task]:
        """Divide a file before it is known whether that is possible: if not, one share scans all frames.

        Yields the tasks that wait, and removes them.
        """
        self._begin(task)
        yield from self.tasks()

    def take(self, task: Task, outcome: Outcome) -> Outcome | None:
        """Take the outcome of a task, and return that of its file; None if the file has other tasks.

        Parameters
        ----------
        task : Task
            A file, a share of one, or a task that joins shares.
        outcome : Outcome
            Of the task.
        """
        if task.share is not None:
            return self._take_share(task, outcome)
        if outcome.state == SHARED:
            self._begin(task, outcome.attempts, outcome.seconds)
            return None
        if task.joined:
            return self._end(task, outcome)
        return outcome

    def _begin(self, task: Task, attempts: int = 0, seconds: float = 0.0) -> None:
        self._files[task.name] = _SplitFile(task, attempts, seconds)
        for number in range(1, task.split + 1):
            share = replace(task, share=(number, task.split))
            self._waiting.append(replace(share, known=self._records.known(_share_name(share))))

    def _take_share(self, task: Task, outcome: Outcome) -> Outcome | None:
        """Keep the outcome of a share; after the last one the file is joined, or has failed.

        A share that was done last has joined the file already, unless its file system showed it no others.
        """
        assert task.share is not None
        file, (number, count) = self._files[task.name], task.share
        file.attempts = max(file.attempts, outcome.attempts)
        file.seconds += 0.0 if outcome.is_reused else outcome.seconds
        file.done[number] = outcome
        if outcome.state == FAILED:
            file.failure = file.failure or outcome
            # Shares that have not begun cannot save the file.
            dropped = [each for each in self._waiting if each.name == task.name]
            self._waiting = deque(each for each in self._waiting if each.name != task.name)
            file.done |= dict.fromkeys([each.share[0] for each in dropped if each.share], outcome)
        elif outcome.state != SHARED:
            file.joined = outcome
        elif outcome.output_hash:
            self._records.store_share(replace(outcome, name=_share_name(task), is_reused=False))
        if len(file.done) < count:
            return None
        if file.joined is not None:
            return self._end(replace(task, share=None, joined=count), replace(file.joined, seconds=0.0))
        if file.failure is None:
            self._waiting.append(replace(file.task, joined=count, known=None))
            return None
        del self._files[task.name]
        Path(task.output).unlink(missing_ok=True)
        return replace(file.failure, attempts=file.attempts, seconds=file.seconds, inputs={}, output_hash="")

    def _end(self, task: Task, outcome: Outcome) -> Outcome:
        """Remove the shares of a file that has been joined."""
        file = self._files.pop(task.name)
        if outcome.state != FAILED:
            for number in range(1, task.joined + 1):
                share = replace(task, share=(number, task.joined))
                self._records.remove_share(_share_name(share))
                Path(share_path(task.output, number, task.joined)).unlink(missing_ok=True)
        seconds = file.seconds + outcome.seconds
        return replace(outcome, attempts=max(file.attempts, outcome.attempts), seconds=seconds)


def _share_name(task: Task) -> str:
    """Return a name for a share; no file has it, because it does not end with the suffix of a scene."""
    assert task.share is not None
    return "{} ({} of {})".format(task.name, *task.share)
