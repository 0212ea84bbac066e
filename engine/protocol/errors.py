"""Errors, named by who must act on them.

`UserError` is for the person, `ModelError` goes back to the model, `RetryableError` is for the
harness, `Cancelled` for nobody. Any other exception is a bug and ends the run with a report.
"""

from __future__ import annotations


class OneDayError(Exception):
    """Base of every error that this project raises on purpose."""


class UserError(OneDayError):
    """Something only the person can mend.

    Args:
        key: stable name for translations, such as ``"attachment.missing"``.
        what: one English sentence saying what happened; ``{name}`` fields are filled from `params`.
        kept: what is safe, in one sentence; empty where nothing was at stake.
        todo: what to do next, in one sentence.
        params: values for the fields of the three sentences.
    """

    def __init__(self, key: str, what: str, *, kept: str = "", todo: str = "", **params: object) -> None:
        self.key = key
        self.params = params
        self.what = what.format_map(params)
        self.kept = kept.format_map(params)
        self.todo = todo.format_map(params)
        super().__init__(" ".join(part for part in (self.what, self.kept, self.todo) if part))


class ModelError(OneDayError):
    """The model did something it can mend itself; `text` is put into its next message.

    Args:
        text: what was wrong and what to send instead, written for the model.
        code: short name for hints and statistics, such as ``"reply.not_json"``.
    """

    def __init__(self, text: str, *, code: str = "model.error") -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class RetryableError(OneDayError):
    """A passing fault (a broken stream, a busy server); the harness tries again within its budget.

    Args:
        text: what happened.
        after_s: seconds the other side asked us to wait; None where it did not say.
    """

    def __init__(self, text: str, *, after_s: float | None = None) -> None:
        super().__init__(text)
        self.after_s = after_s


class Cancelled(OneDayError):
    """The person stopped the work; the run is paused and can be continued."""
