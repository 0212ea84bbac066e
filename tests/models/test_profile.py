from __future__ import annotations

from pathlib import Path

import pytest

from engine.protocol.errors import UserError
from models.catalog import load_catalog
from models.dialects.registry import get_dialect
from models.profile import list_profiles, load_profile


def test_built_in_profiles_load_and_fit_the_catalogue() -> None:
    names = list_profiles(None)
    assert {"cpu-small", "cpu-tiny", "scripted"} <= set(names)
    for name in names:
        profile = load_profile(name, None)
        assert profile.name == name
        assert get_dialect(profile.dialect).name == profile.dialect
        if profile.backend == "llama_cpp":
            assert profile.window <= load_catalog().entry(profile.model).context_tokens
    small = load_profile("cpu-small", None)
    assert (small.window, small.dialect, small.sampling.temperature) == (8192, "code_block", 0.2)
    assert (small.first_token_timeout_s, small.idle_timeout_s, small.judge_precision) == (600, 120, None)
    assert small.max_subtasks <= 6


def test_a_persons_profile_extends_and_overrides(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'extends = "cpu-small"\nwindow = 4096\n[sampling]\ntop_k = 5\n[roles]\nverifier = "x"\n'
    )
    mine = load_profile("mine", tmp_path)
    assert (mine.window, mine.sampling.top_k, mine.sampling.temperature) == (4096, 5, 0.2)
    assert (mine.model_for("verifier"), mine.model_for("executor")) == ("x", "qwen2.5-coder-1.5b")
    assert "mine" in list_profiles(tmp_path)


def test_a_persons_profile_may_change_a_built_in_one_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "cpu-small.toml").write_text('extends = "cpu-small"\nretries = 1\n')
    changed = load_profile("cpu-small", tmp_path)
    assert (changed.retries, changed.window) == (1, 8192)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('extends = "cpu-small"\nwindwo = 1\n', "windwo"),
        ('extends = "cpu-small"\nmax_subtasks = 7\n', "max_subtasks"),
        ('extends = "cpu-small"\n[sampling]\ntemperature = "warm"\n', "temperature"),
        ('backend = "openai"\n', "model"),
        ('extends = "cpu-small"\nbackend = "openai"\n', "base_url"),
        ('extends = "cpu-small"\nreply_tokens = 8000\n', "reply_tokens"),
        ("window = \n", "line 1"),
        ('extends = "loop"\n', "no profile loop"),
        ("extends = 3\n", "extends"),
    ],
)
def test_faults_name_file_and_field(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "bad one.toml").write_text(text)
    with pytest.raises(UserError) as caught:
        load_profile("bad one", tmp_path)
    assert named in str(caught.value)
    assert "bad one.toml" in str(caught.value) or "loop" in named


def test_circles_and_unknown_names(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('extends = "b"\n')
    (tmp_path / "b.toml").write_text('extends = "a"\n')
    with pytest.raises(UserError, match="back to itself"):
        load_profile("a", tmp_path)
    with pytest.raises(UserError, match="cpu-small"):
        load_profile("../a", tmp_path)
