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
        self.messages = [m if isinstance(m, Message) else Message(*m) for m in messages]
        super().__init__("\n".join(m.text for m in self.messages), "AS_ERR_ARGUMENT")

    def _elsewhere(self, find):
        """The same for a model that is no file: find(line) -> (file, line, path in the model)."""
        return ModelError([m._elsewhere(find) for m in self.messages])


class Message:
    """One mistake: text, with its place as compilers write it.

    file, line, column   the place, numbers from 1; 0 and "" where there is none
    path                 in a dict or a Model, what it is about, as "bodies.bob.mass"; else ""
    sentence             the text without its place
    """

    def __init__(self, text, line, column, file=None, path=""):
        self.text, self.line, self.column, self.path = text, line, column, path
        place, _, rest = text.partition(f":{line}:{column}: ") if line else ("", "", text)
        self.file = file if file is not None else place if rest else ""
        self.sentence = (rest or text).removeprefix("error: ")

    def _elsewhere(self, find):
        if not self.line:
            return self
        file, line, path = find(self.line)
        head = f"{file}:{line}: " if line else ""
        message = Message(f"{head}error: {self.sentence}", line, 0, file, path)
        message.sentence = self.sentence
        return message

    def __repr__(self):
        return f"Message({self.text!r})"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run. result: the rows up to there."""

    def __init__(self, message, result):
        super().__init__(message)
        self.result = result


class Warning(UserWarning):
    """What the library remarks: it has gone on, but should be looked at."""
