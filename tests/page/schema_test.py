#!/usr/bin/env python3
"""Documents of smelt report against docs/report.schema.json, and the gallery against its sources. No browser is needed.

Usage: schema_test.py path/to/smelt
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import unittest

from schema import faults

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())
CPU, GPU = ["--device", "cpu", "--time-limit", "0.01"], ["--device", "sm_90"]


class Documents(unittest.TestCase):
    smelt = ""

    def report(self, program, *arguments, environment=None):
        command = [self.smelt, "report", program, *arguments, "--json", "-"]
        made = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        if made.returncode != 0 and "sm_90" in arguments and "NVRTC" in made.stderr:
            self.skipTest("no NVRTC")
        self.assertEqual(made.returncode, 0, made.stderr)
        return json.loads(made.stdout)

    def check(self, *arguments, **named):
        document = self.report(*arguments, **named)
        self.assertEqual(list(faults(document, SCHEMA, SCHEMA)), [])
        return document

    def example(self, name):
        return str(ROOT / f"examples/{name}.smelt")

    def test_on_the_cpu(self):
        self.check("softmax(x).T + mean(x, axis=0, keepdims=True).T", "-i", "x=f32[64,64]", *CPU)
        self.check(self.example("relu_layernorm"), "--size", "B=64", "--size", "C=256", *CPU, "--depth")
        self.check(self.example("horizontal"), "-i", "xs=8*f32[1638]", *CPU)
        self.check(self.example("attention"), "--size", "S=32", "--size", "D=16", *CPU)

    def test_for_a_gpu_that_is_not_here(self):
        document = self.check(self.example("relu_layernorm"), "-i", "x=f32[64,256]", *GPU)
        functions = document["plans"]["fused"]["kernels"][0]["functions"]
        self.assertGreater(functions[0]["registers"], 0)
        self.assertNotIn("occupancy", functions[0])
        self.check(self.example("horizontal"), "-i", "xs=8*f32[1638]", *GPU)
        self.check(self.example("blur_sobel"), "--size", "H=64", "--size", "W=64", *GPU, "--no-run")

    def test_of_all_states(self):
        self.check("x", "-i", "x=f32[4]", *CPU)
        self.check("x / 0", "-i", "x=f32[4]", *CPU)
        self.check("x[:0] + 1", "-i", "x=f32[8]", *CPU)
        self.check("t[i]", "-i", "t=f32[10]", "-i", "i=iota:i32[20]", *CPU)
        self.check("argmax(x), sum(x > 0), i8(x)", "-i", "x=f32[80]", *CPU)
        self.check("cumsum(x, axis=1)", "-i", "x=f32[16,40]", "--device", "cpu", "--no-run")
        self.check("softmax(x)", "-i", "x=f32[8,8]", *CPU, environment={"SMELT_LLVM": "/absent"})

    def test_the_check_sees_what_is_wrong(self):
        document = self.report("relu(x) * 2", "-i", "x=f32[16]", *CPU, "--no-run")

        def spoiled(change):
            other = copy.deepcopy(document)
            change(other)
            return list(faults(other, SCHEMA, SCHEMA))

        self.assertEqual(spoiled(lambda d: None), [])
        self.assertIn(" has no machine", spoiled(lambda d: d.pop("machine")))
        self.assertIn(".problem is None, not of type string", spoiled(lambda d: d.update(problem=None)))
        self.assertIn(".more is not in the schema", spoiled(lambda d: d.update(more=1)))
        self.assertEqual(len(spoiled(lambda d: d["graph"]["nodes"][0].update(kind="other"))), 1)
        self.assertEqual(len(spoiled(lambda d: d["plans"]["fused"]["kernels"][0].update(bytes_read=True))), 1)


class Gallery(unittest.TestCase):
    """Of the committed pages: their script and style are those that this smelt writes, and there is one for each program."""

    def test_script_and_style_are_those_of_the_sources(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder)
            command = ["report", "x + 1", "-i", "x=f32[4]", "--device", "cpu", "--no-run", "--assets", folder]
            subprocess.run([Documents.smelt, *command, "-o", made / "page.html"], check=True, capture_output=True)
            for name in ("page.js", "page.css"):
                self.assertEqual(
                    (ROOT / "docs/gallery" / name).read_text(),
                    (made / name).read_text(),
                    f"docs/gallery/{name} is not that of src/report/page: run make gallery, or copy it",
                )

    def test_every_page_is_there_with_a_document_as_the_schema_says(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import gallery

        index = (ROOT / "docs/gallery/index.html").read_text()
        for name, _, _ in gallery.PROGRAMS:
            page = (ROOT / f"docs/gallery/{name}.html").read_text()
            self.assertIn(f'href="{name}.html"', index)
            data = page.split('<script type="application/json" id="report">')[1].split("</script>")[0]
            self.assertEqual(list(faults(json.loads(data), SCHEMA, SCHEMA)), [], name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Documents.smelt = os.path.abspath(sys.argv.pop(1))
    unittest.main()
