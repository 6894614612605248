"""Outcomes of the files of a run, in a database in the folder of the results, from which a run resumes."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from addon.cli.parser import UsageError

from .tasks import Outcome

_STORE = (
    "INSERT INTO outcomes VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE"
    " SET run = excluded.run, time = excluded.time, outcome = excluded.outcome"
)


def share_suffix(share: tuple[int, int]) -> str:
    """Return what the names of the files of a share have in addition; nothing if there is one share only."""
    return "" if share == (1, 1) else f"-{share[0]}-of-{share[1]}"


class Records:
    """Outcomes by the name of the file. Each one is on disk when `store` returns."""

    def __init__(self, folder: Path, share: tuple[int, int] = (1, 1)) -> None:
        """Open the database in a folder, or create it.

        Each share of a run has a database of its own. A run without shares takes over their outcomes.

        Raises
        ------
        UsageError
            If another run writes into the folder, or if the database cannot be read or written.
        """
        self._path = folder / f"batch{share_suffix(share)}.sqlite"
        try:
            self._database = sqlite3.connect(self._path, timeout=1.0, isolation_level=None)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("BEGIN EXCLUSIVE")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS outcomes"
                " (name TEXT PRIMARY KEY, run INTEGER, time REAL, outcome TEXT)"
            )
            (last,) = self._database.execute("SELECT MAX(run) FROM outcomes").fetchone()
            if share == (1, 1):
                self._take_over(folder)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            reason = "another run writes into this folder" if "locked" in str(error) else str(error)
            raise UsageError(f"{self._path}: {reason}") from None
        self._run = (last or 0) + 1

    def _take_over(self, folder: Path) -> None:
        for path in sorted(folder.glob("batch-*-of-*.sqlite")):
            with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as part:
                rows = part.execute("SELECT name, 0, time, outcome FROM outcomes")
                self._database.executemany(f"{_STORE} WHERE excluded.time > time", rows)

    def known(self, name: str) -> Outcome | None:
        """Return the outcome of a file in an earlier run, None without one."""
        row = self._database.execute("SELECT outcome FROM outcomes WHERE name = ?", (name,)).fetchone()
        return None if row is None else _outcome(row[0])

    def store(self, outcome: Outcome) -> None:
        """Keep the outcome of a file in this run."""
        text = json.dumps(asdict(outcome))
        self._database.execute(_STORE, (outcome.name, self._run, time.time(), text))

    def store_share(self, outcome: Outcome) -> None:
        """Keep the outcome of a share of a file, which is in no summary."""
        self._database.execute(_STORE, (outcome.name, 0, time.time(), json.dumps(asdict(outcome))))

    def remove_share(self, name: str) -> None:
        """Remove the outcome of a share."""
        self._database.execute("DELETE FROM outcomes WHERE name = ? AND run = 0", (name,))

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes of this run, sorted by name."""
        for (text,) in self._database.execute(
            "SELECT outcome FROM outcomes WHERE run = ? ORDER BY name", (self._run,)
        ):
            yield _outcome(text)

    def earlier_names(self) -> Iterator[str]:
        """Yield the names that are in earlier runs only, sorted: of files, and of shares of files."""
        rows = self._database.execute("SELECT name FROM outcomes WHERE run < ? ORDER BY name", (self._run,))
        for (name,) in rows:
            yield name

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _outcome(text: str) -> Outcome:
    return Outcome(**json.loads(text))
