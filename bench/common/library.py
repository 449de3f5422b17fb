"""What is alike for every library that smelt is compared with."""

import importlib


class NotWritten(Exception):
    pass


def function_of(module, family):
    library = importlib.import_module(module)
    function = getattr(library, family.name, None)
    if function is None:
        raise NotWritten(f"{module}.py has no {family.name}")
    return function


def first_line(error):
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:300] if text else ''}"
