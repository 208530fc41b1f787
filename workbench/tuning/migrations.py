"""Migrations: the tables of a ledger, as the steps by which each version came from the one before it.

A step is never changed after it was released; a change of the tables is a new step at the end.
"""

from __future__ import annotations

import sqlite3

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE individual (
        number INTEGER PRIMARY KEY,
        point TEXT NOT NULL,
        choices TEXT NOT NULL,
        changes TEXT NOT NULL,
        strategy TEXT NOT NULL,
        birth TEXT NOT NULL,
        parents TEXT NOT NULL,
        status TEXT NOT NULL,
        samples TEXT NOT NULL,
        phenotype TEXT NOT NULL,
        build_seconds REAL NOT NULL,
        run_seconds REAL NOT NULL,
        tail TEXT NOT NULL,
        score REAL,
        same_as INTEGER NOT NULL,
        told REAL NOT NULL
    ) STRICT;
    """,
    """
    ALTER TABLE individual ADD COLUMN bound REAL NOT NULL DEFAULT 0;
    CREATE TABLE race (
        number INTEGER PRIMARY KEY, after INTEGER NOT NULL, tail TEXT NOT NULL, told REAL NOT NULL
    ) STRICT;
    CREATE TABLE final (
        race INTEGER NOT NULL REFERENCES race (number),
        individual INTEGER NOT NULL REFERENCES individual (number),
        samples TEXT NOT NULL,
        PRIMARY KEY (race, individual)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE individual ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE individual ADD COLUMN after INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE individual ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE search (base INTEGER NOT NULL, described TEXT NOT NULL) STRICT;
    CREATE TABLE now (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    """,
    """
    ALTER TABLE individual ADD COLUMN error REAL;
    """,
    """
    ALTER TABLE individual ADD COLUMN loops TEXT NOT NULL DEFAULT '[]';
    """,
    """
    ALTER TABLE individual ADD COLUMN beside TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE individual ADD COLUMN against INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE individual ADD COLUMN paired REAL NOT NULL DEFAULT 0;
    """,
    """
    ALTER TABLE individual ADD COLUMN compared TEXT NOT NULL DEFAULT '';
    """,
)
VERSION = len(STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """How many steps a file has had."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, each in a transaction of its own together with the number of its version."""
    for version, step in enumerate(STEPS[version_of(connection) :], start=version_of(connection) + 1):
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {step} PRAGMA user_version = {version}; COMMIT;")
        except sqlite3.Error:
            connection.rollback()
            raise
