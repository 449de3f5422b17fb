"""Runs the commands of every page and compares what they print with what the page says.

Usage: pages_test.py SMELT [--list] [PAGE ...]

In a code block, a line `$ COMMAND` is run, and the lines under it, up to the next one, are its output.
A comment `<!-- $ COMMAND -->` before a block does the same for a page that shows no prompt; with
`<!-- $ COMMAND | part -->` the lines of the block occur in the output in this order, others between
them. In a quoted output a line `...` stands for any lines. A line that begins with a program
(`smelt`, `build/release/smelt`, `make`, a script) is a command without output: smelt's are run, of
others it is checked that they exist. `$ cat FILE` makes the file that it shows.

Figures that depend on the machine are not compared: those with a unit of time or of rate, numbers
of benchmarks (`bench`, `--measure`, `--depth`, `devices`), and paths. A command that needs a GPU, or
NVRTC where there is none, is skipped; how many were is printed.

After `<!-- with x=f32[8] -->` every line of a block is an expression of these arrays, and compiled.
A block ```smelt is a program of the language: it is compiled for the CPU, every symbol 8. The block
after a quoted C++ example is what the example prints.
"""
import difflib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import markdown  # noqa: E402

PROGRAM = re.compile(r"^(?:[A-Z][A-Z0-9_]*=\S* +)*(smelt|make|ctest|cmake|pip|python3?|bash|git|[\w.]+(?:/[\w.+-]+)+)(?= |$)")
SYNOPSIS = re.compile(r"  (?=[a-z])(?!\s*-)|\b[A-Z]{2,}=SPEC|\bPROGRAM\b|\bOPS\.json\b|\[COMMAND|\[NAME\]| \| ")
NEEDS_GPU = re.compile(r"--device (?:cuda|opencl)|smelt profile")
LOOSE = re.compile(r"smelt bench|smelt devices|smelt cache|--measure|--depth|--tune|smelt report")
UNITS = r"(?:ns|µs|ms|s|GB/s|TFLOP/s|GFLOP/s)\b"
TIMEOUT = 120


def commands(page):
    """(line, command, expected, part): expected is None where the page quotes no output."""
    for block in page.blocks:
        if block.language in ("cpp", "python", "cmake", "smelt", "cuda"):
            continue
        quoted = re.match(r"^\$ (.*?)( \| part)?$", block.directive)
        if quoted:
            yield block.line, quoted[1], list(block.lines), bool(quoted[2])
            continue
        current = None
        lines, at = block.lines, 0
        while at < len(lines):
            line, number = lines[at], block.line + at
            at += 1
            while line.endswith("\\") and at < len(lines):
                line = line[:-1].rstrip() + " " + lines[at].strip()
                at += 1
            if line.startswith("$ "):
                if current:
                    yield current
                current = (number, line[2:], [], False)
            elif current:
                current[2].append(line)
            elif PROGRAM.match(line) and not SYNOPSIS.search(line):
                yield number, re.split(r" +# ", line)[0].rstrip(), None, False
        if current:
            yield current


def same_but_figures(text, loose):
    text = re.sub(r"/[\w.+-]+(?:/[\w.+-]+)+", "PATH", text)
    text = re.sub(r"libllvm\d+|\b(?:avx|sse|neon|sve)\w*", "NAME", text)
    if not text.strip():
        return ""
    number = r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
    if loose:
        text = re.sub(number, "#", text)
    text = re.sub(number + r"(?: ± " + number + r")? ?" + UNITS, "#", text)
    text = re.sub(number + r" times as (fast|long)", r"# times as \1", text)
    return re.sub(r"\s+", " ", text).strip() if loose else re.sub(r"(?<=\S) {2,}", " ", text).rstrip()


def differences(expected, printed, part, loose):
    """What the page says and the program does not print, as lines of a diff."""
    wanted = [same_but_figures(line, loose) for line in expected]
    got = [same_but_figures(line, loose) for line in printed]
    if part:  # where a block begins within what is printed, its indentation is the page's own
        wanted, got = [line.strip() for line in wanted], [line.strip() for line in got]
    while wanted and not wanted[-1]:
        wanted.pop()
    while got and not got[-1]:
        got.pop()
    at, anywhere = 0, part
    for index, line in enumerate(wanted):
        if line.strip() == "...":
            anywhere = True
            continue
        if part and not line.strip():
            continue
        found = next((i for i in range(at, len(got) if anywhere else min(at + 1, len(got))) if got[i] == line), None)
        if found is None:
            near = difflib.get_close_matches(line, got, 1, 0)
            return [f"the page:  {expected[index]}", f"printed:   {printed[got.index(near[0])] if near else ''}"]
        at, anywhere = found + 1, part
    if at < len(got) and not anywhere:
        return [f"printed, and not on the page:  {printed[at]}"]
    return []


def has_avx512():
    facts = pathlib.Path("/proc/cpuinfo")
    return facts.exists() and " avx512f " in facts.read_text()


class Runner:
    def __init__(self, smelt, folder):
        self.folder, self.build = folder, pathlib.Path(smelt).resolve().parent
        for name in ("examples", "bench", "scripts", "tests", "docs", "src", "include"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "build/release").mkdir(parents=True)
        (folder / "bin").mkdir()
        for link in (folder / "build/release/smelt", folder / "bin/smelt"):
            link.symlink_to(pathlib.Path(smelt).resolve())
        self.environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", NO_COLOR="1",
                                SMELT_CACHE_DIR=str(folder / "cache"), HOME=str(folder), COLUMNS="200")
        nvrtc = sorted((ROOT / "build/nvrtc").rglob("libnvrtc.so.*")) if (ROOT / "build/nvrtc").exists() else []
        if nvrtc and "SMELT_NVRTC" not in os.environ:
            self.environment["SMELT_NVRTC"] = str(nvrtc[0])
        self.has_gpu = '"cuda", "available": true' in self.run("smelt devices --json -").stdout.replace('":', '": ').replace("  ", " ")
        (folder / ".local/share/bash-completion/completions").mkdir(parents=True)
        self.run("smelt run x -i x=f32[64,32] -o weights.npy")
        shutil.copy(ROOT / "examples/softmax.smelt", folder / "program.smelt")

    def run(self, command):
        environment = dict(self.environment)
        if "--device cuda" not in command and "smelt profile" not in command:
            environment["SMELT_CUDA"] = "/nonexistent"
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=TIMEOUT)

    def outcome(self, command, expected, part):
        """"run", "checked" or "skipped: why"; or a list of lines: what is wrong."""
        if command.startswith("c++ ("):
            return self.compiles_cpp(command[4:], expected)
        if command.startswith("tests/example_"):
            return self.example(command, expected)
        words = shlex.split(command, comments=True)
        first = next(word for word in words if not re.match(r"^[A-Z_0-9]+=", word))
        if first == "cat" and expected is not None and len(words) == 2:
            (self.folder / words[1]).write_text("\n".join(expected) + "\n", encoding="utf-8")
            return "run"
        if first not in ("smelt", "build/release/smelt") and expected is None:
            return self.exists(first, words)
        if NEEDS_GPU.search(command) and "SMELT_CUDA=" not in command and not self.has_gpu:
            return "skipped: needs a GPU"
        if "SMELT_CPU=x86-64-v4" in command and not has_avx512():
            return "skipped: needs AVX-512"
        if "--serve" in words:
            return "skipped: a server"
        if first != "smelt" and not first.startswith("build/release") and not first.startswith(("bench/", "python3")):
            return "skipped: only smelt is run"
        if re.search(r"smelt bench", command) and "--time-limit" not in command:
            command = command.replace("smelt bench", "smelt bench --time-limit 0.05", 1)
        ran = self.run(command)
        printed = ran.stdout + ran.stderr
        if ran.returncode and "NVRTC" in printed and "NVRTC" not in "\n".join(expected or []):
            return "skipped: needs NVRTC"
        if ran.returncode and "smelt profile" in command:
            return "skipped: needs Nsight Compute, and the right to read counters"
        wanted_status = 0
        if expected and any(re.search(r"^(?:\S+: )?error: ", line) for line in expected):
            wanted_status = 2
        if ran.returncode != wanted_status:
            return [f"exit status {ran.returncode}", *printed.splitlines()[:6]]
        if expected is None:
            return "run"
        return differences(expected, printed.splitlines(), part, bool(LOOSE.search(command))) or "run"

    def exists(self, first, words):
        words = words[:words.index("&&")] if "&&" in words else words
        if first == "make":
            targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M)
            return next(([f"the Makefile has no target {w}"] for w in words[1:] if re.fullmatch(r"\w+", w) and w not in targets),
                        "checked")
        if first in ("python", "python3", "bash"):
            first = next((word for word in words[words.index(first) + 1:] if not word.startswith("-")), "")
        if "/" in first and not first.startswith(("build/", "/")) and not (ROOT / first).exists():
            return [f"{first} does not exist"]
        return "checked"

    def compiles_cpp(self, parameters, lines):
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
        if not compiler:
            return "skipped: no C++ compiler"
        text = "#include <smelt/smelt.hpp>\nusing namespace smelt;\nvoid quoted%s {\n%s\n}\n" % (parameters, "\n".join(lines))
        ran = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT / 'include'}", f"-I{self.build}/include", "-x", "c++", "-"],
                             input=text, capture_output=True, text=True, timeout=TIMEOUT)
        return "run" if ran.returncode == 0 else ran.stderr.splitlines()[:6]

    def example(self, name, expected):
        program = self.build / name
        if not program.exists():
            return "skipped: not built"
        ran = self.run(str(program))
        return differences(expected, ran.stdout.splitlines(), False, False) or "run"

    def compiles(self, text):
        """A program of the language, with 8 for every symbol of its inputs."""
        (self.folder / "snippet.smelt").write_text(text, encoding="utf-8")
        sizes = sorted(set(re.findall(r"\b[A-Z]\w*\b", " ".join(re.findall(r"input \w+: .*?(\[.*\])", text)))))
        given = " ".join(f"--size {name}=8" for name in sizes)
        for name, dtype in re.findall(r"input (\w+): list\[(\w+)\[\.\.\.\]\]", text):
            given += f" -i '{name}=2*{dtype}[8]'"
        ran = self.run(f"smelt explain snippet.smelt --device cpu {given}")
        return "run" if ran.returncode == 0 else ran.stderr.splitlines()[:6]


def cases(page):
    yield from commands(page)
    for block, after in zip(page.blocks, [*page.blocks[1:], None]):
        if block.language == "smelt":
            yield block.line, None, block.lines, False
        if block.directive.startswith("with "):
            for number, line in enumerate(block.lines):
                expression = line.split(" #")[0].strip()
                names = set(re.findall(r"\b[a-z_]\w*\b", expression))
                given = [spec for spec in block.directive.split()[1:] if spec.split("=")[0] in names]
                yield (block.line + number, f"smelt explain '{expression}' --device cpu " + " ".join(f"-i {spec}" for spec in given),
                       None, False)
        inside = re.fullmatch(r"in a function of (\(.*\))", block.directive)
        if inside and block.language == "cpp":
            yield block.line, f"c++ {inside[1]}", block.lines, False
        example = re.fullmatch(r"examples/cpp/(\w+)\.cpp", block.directive)
        if example and after and not after.language and after.line <= block.line + len(block.lines) + 2:
            yield after.line, f"tests/example_{example[1]}", list(after.lines), False


def main():
    arguments = [a for a in sys.argv[2:] if not a.startswith("--")]
    paths = [(ROOT / a).resolve() for a in arguments] or list(markdown.pages(ROOT))
    counts, failed = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        for path in paths:
            for line, command, expected, part in cases(markdown.Page(path)):
                if "--list" in sys.argv:
                    print(f"{path.relative_to(ROOT)}:{line}: {command or 'a program'}")
                    continue
                try:
                    what = runner.outcome(command, expected, part) if command else runner.compiles("\n".join(expected) + "\n")
                except subprocess.TimeoutExpired:
                    what = [f"not done after {TIMEOUT} s"]
                if isinstance(what, list):
                    failed += 1
                    print(f"{path.relative_to(ROOT)}:{line}: {command or 'a program'}")
                    print("".join(f"    {text}\n" for text in what), end="", flush=True)
                else:
                    counts[what] = counts.get(what, 0) + 1
    print("pages: " + ", ".join([f"{failed} failed", *(f"{n} {what}" for what, n in sorted(counts.items()))]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
