"""What the tests of the page share: pages of programs, each made once, and a browser to look at them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import browser as chromium

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERNORM = [str(ROOT / "examples/relu_layernorm.smelt"), "-i", "x=f32[64,256]", "--device", "cpu"]
TWO_KERNELS = ["softmax(x).T + mean(x, axis=0, keepdims=True).T", "-i", "x=f32[512,512]", "--device", "cpu"]
PLUS_ONE = ["x + 1", "-i", "x=f32[8]", "--device", "cpu"]


def count(selector):
    return f"document.querySelectorAll({json.dumps(selector)}).length"


class Pages(unittest.TestCase):
    smelt = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="smelt-page-test-")
        cls.browser = chromium.Browser()
        cls.made = {}

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def page(self, *arguments, environment=None):
        """The page and the document of a program; each is made once."""
        key = (arguments, str(environment))
        if key not in self.made:
            base = os.path.join(self.folder.name, f"page{len(self.made)}")
            command = [
                self.smelt,
                "report",
                *arguments,
                "--time-limit",
                "0.02",
                "-o",
                base + ".html",
                "--json",
                base + ".json",
            ]
            made = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
            self.assertEqual(made.returncode, 0, made.stderr)
            self.made[key] = base
        base = self.made[key]
        return base + ".html", json.loads(pathlib.Path(base + ".json").read_text())

    def show(self, *arguments, dark=False, width=1280, fragment="", environment=None):
        path, document = self.page(*arguments, environment=environment)
        self.browser.open(path, dark=dark, width=width, fragment=fragment)
        self.assertEqual(self.browser.problems(), [])
        return document

    def without_a_gpu(self):
        """The arguments of a page for a GPU that need not be here, where its compiler is."""
        probe = subprocess.run([self.smelt, "explain", "x", "-i", "x=f32[4]", "--device", "sm_90"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no NVRTC")
        return [*LAYERNORM[:-1], "sm_90", "--no-run"]

    def value(self, expression):
        return self.browser.evaluate(expression)

    def attribute(self, selector, name):
        return self.value(f"document.querySelector({json.dumps(selector)})?.getAttribute({json.dumps(name)})")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def rows(self, table):
        return self.value(
            f"[...document.querySelectorAll('[data-table=\"{table}\"] tbody tr')].map((r) => "
            "[...r.cells].map((c) => c.textContent))"
        )

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])


def main(usage):
    """Runs the tests of the module that calls it. 77: there is no Chromium."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    if not chromium.find():
        print("skipped: there is no Chromium here (chromium-headless-shell, of Debian)")
        sys.exit(77)
    Pages.smelt = os.path.abspath(sys.argv.pop(1))
    unittest.main()
