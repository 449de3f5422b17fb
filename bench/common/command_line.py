"""The command line tool as a benchmark runs it, and what it needs of a program's text."""

import subprocess


class Failed(Exception):
    pass


def run(command, limit_s=300, environment=None):
    """The tool's standard output; Failed with what it says on standard error."""
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit_s, stdin=subprocess.DEVNULL,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Failed(f"over its limit of {limit_s:g} s") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if done.returncode not in (0, 1):  # 1: it ran, and its own check failed
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(f"exit status {done.returncode}: " + " / ".join(lines[:4])[:500])
    return done.stdout


def top_level(text):
    """Splits at commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]
