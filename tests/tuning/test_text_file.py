"""Files that a user names: one that cannot be read, or is something else, is named with what is wrong."""

import json

import pytest

from workbench.errors import TuningError
from workbench.tuning.study import Study

RESULT = {"configuration": {"block": 16}, "times": {"runtimes": [12.5]}, "invalidity": "correct"}
RESULTS = json.dumps({"results": [RESULT], "schema_version": "1.0.0"})


@pytest.mark.parametrize(
    ("source", "space", "cause"),
    [
        ("none.json", None, "none.json cannot be read: No such file or directory"),
        ("bytes", None, "bytes is no text in UTF-8"),
        ("notes", None, "notes: the file is no JSON"),
        ("results.json", "notes", "notes: the file is no T1 problem"),
    ],
)
def test_file_that_cannot_be_taken_over_is_named(tmp_path, source, space, cause):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "notes").write_text("my notes")
    (tmp_path / "results.json").write_text(RESULTS)
    with pytest.raises(TuningError) as caught:
        Study.from_file(tmp_path / source, tmp_path / "s.sqlite", space=None if space is None else tmp_path / space)
    assert cause in str(caught.value)
    assert not (tmp_path / "s.sqlite").exists()
