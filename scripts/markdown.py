"""Reads Markdown pages as far as the checks of pages need it: code blocks, headings, links, prose."""
import pathlib
import re

FENCE = re.compile(r"^ *```(\w*) *$")
DIRECTIVE = re.compile(r"^<!-- (.*) -->$")
LINK = re.compile(r"(?<!`)!?\[[^\]]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)|<(?:img|source|a)\b[^>]*?(?:src|srcset|href)=\"([^\"]+)\"")
SKIPPED_FOLDERS = {"build", "node_modules"}


class Block:
    """A code block: its first line (counted from 1), its language ("" where it is indented), its lines,
    and the comment `<!-- ... -->` before it."""

    def __init__(self, line, language, directive):
        self.line, self.language, self.directive = line, language, directive
        self.lines = []


class Page:
    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.blocks, self.prose = [], []  # prose: (number, line) outside of code
        self._read()

    def _read(self):
        block, fenced, directive, in_list = None, False, "", False
        for number, line in enumerate(self.lines, 1):
            fence = FENCE.match(line)
            if fence and not fenced:
                block, fenced = Block(number + 1, fence[1] or "text", directive), True
                self.blocks.append(block)
            elif fence:
                block, fenced, directive = None, False, ""
            elif fenced:
                block.lines.append(line)
            elif line.startswith("    ") and (block or (not in_list and self._blank_before(number))):
                if block is None:
                    block = Block(number, "", directive)
                    self.blocks.append(block)
                block.lines.append(line[4:])
            elif not line.strip():
                if block:
                    block.lines.append("")
            else:
                if block:
                    block, directive = None, ""
                in_list = bool(re.match(r"^(?:[-*]|\d+\.) ", line)) or (in_list and line.startswith(" "))
                comment = DIRECTIVE.match(line)
                directive = comment[1] if comment else ""
                self.prose.append((number, line))
        for each in self.blocks:
            while each.lines and not each.lines[-1].strip():
                each.lines.pop()

    def _blank_before(self, number):
        return number < 2 or not self.lines[number - 2].strip() or DIRECTIVE.match(self.lines[number - 2])

    def anchors(self):
        """The names that a link may have after #, as GitHub makes them of headings."""
        names = set()
        for _, line in self.prose:
            heading = re.match(r"^#{1,6} +(.*)$", line)
            if heading:
                text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
                names.add(re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-"))
            names.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
        return names

    def links(self):
        for number, line in self.prose:
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                yield number, match[1] or match[2]


def pages(root):
    for path in sorted(pathlib.Path(root).rglob("*.md")):
        parts = path.relative_to(root).parts
        if not SKIPPED_FOLDERS & set(parts) and not any(part.startswith(".") for part in parts):
            yield path
