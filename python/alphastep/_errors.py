"""What is raised and warned about."""


class Error(Exception):
    """Something that the library could not do: one sentence, and what it is about.

    status: the library's name for it, as "AS_ERR_CONVERGENCE"; t: the time [s], nan if there is none; component: what it is about, or "";
    result: of a run that failed, the rows up to there, else None.
    """

    def __init__(self, message, status="", t=float("nan"), component=""):
        super().__init__(message)
        self.status, self.t, self.component = status, t, component
        self.result = None


class ModelError(Error):
    """Mistakes of a model, all at once. messages: a Message of each, by place."""

    def __init__(self, messages):
        self.messages = [Message(*m) for m in messages]
        super().__init__("\n".join(m.text for m in self.messages), "AS_ERR_ARGUMENT")


class Message:
    """One mistake: text, with its place as compilers write it; line and column from 1, 0 where there is none."""

    def __init__(self, text, line, column):
        self.text, self.line, self.column = text, line, column

    def __repr__(self):
        return f"Message({self.text!r})"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run. result: the rows up to there."""

    def __init__(self, message, result):
        super().__init__(message)
        self.result = result


class Warning(UserWarning):
    """What the library remarks: it has gone on, but should be looked at."""
