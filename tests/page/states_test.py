#!/usr/bin/env python3
"""The page of smelt report for unusual programs; its looks, its keys, its size; served. 77: no Chromium.

Usage: states_test.py path/to/smelt [CLASS ...]
"""

import json
import os
import pathlib
import re
import subprocess
import time

from pages import LAYERNORM, PLUS_ONE, ROOT, TWO_KERNELS, Pages, count, main


# The contrast of every drawn text with its background.
CONTRASTS = """(() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const d = context.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, under) => [0, 1, 2].map((c) => top[c] * top[3] + under[c] * (1 - top[3])).concat(1);
  const luminance = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const v = c[i] / 255;
    return sum + weight * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    return layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
    if (!node.data.trim() || e.closest('svg, script, option') || !box.width || style.visibility !== 'visible') continue;
    const ground = behind(e), a = luminance(over(rgba(style.color), ground)), b = luminance(ground);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    const where = e.tagName + '.' + e.className;
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const old = found.get(where);
    if (!old || ratio < old.ratio)
      found.set(where, {where, text: node.data.trim().slice(0, 30), ratio, large});
  }
  return [...found.values()];
})()"""


def ratio(first, second):
    """Of two colours, '#1b1f24', as WCAG has it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return sum(weight * v for weight, v in zip((0.2126, 0.7152, 0.0722), linear))

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class States(Pages):
    def test_one_operation(self):
        self.show(*PLUS_ONE)
        self.assertIn("nothing to fuse", self.text(".verdict"))

    def test_nothing_computed(self):
        self.show("x", "-i", "x=f32[8]", "--device", "cpu")

    def test_no_intermediate(self):
        self.show("x + 1, x * 2", "-i", "x=f32[8]", "--device", "cpu")

    def test_many_kernels(self):
        program = "; ".join(
            [f"y{i} = sum(exp(x{i}), axis=0)" for i in range(30)] + ["return " + ", ".join(f"y{i}" for i in range(30))]
        )
        inputs = [word for i in range(30) for word in ("-i", f"x{i}=f32[{8 + i},{16 + i}]")]
        document = self.show(program, *inputs, "--device", "cpu")
        self.assertEqual(
            int(self.attribute("#after [data-kernels]", "data-kernels")), len(document["plans"]["fused"]["kernels"])
        )

    def test_batches(self):
        document = self.show(str(ROOT / "examples/horizontal.smelt"), "-i", "xs=12*f32[4096]", "--device", "cpu")
        self.assertEqual(document["plans"]["fused"]["kernels"][0]["strategy"], "batch")
        self.assertIn("independent", self.text(".notice"))

    def test_symbolic_sizes(self):
        self.show("softmax(x)", "-i", "x=f32[B,C]", "--size", "B=8", "--size", "C=32", "--device", "cpu")
        self.assertIn("B=8", self.text(".facts"))

    def test_sizes_of_zero(self):
        self.show("x * 2 + 1", "-i", "x=f32[0]", "--device", "cpu")

    def test_nan_and_infinity(self):
        self.show("log(x - 1) / 0 + x * inf", "-i", "x=f32[64]", "--device", "cpu")
        self.assertIn("NaN", self.text("#element"))

    def test_only_the_interpreter(self):
        document = self.show(
            "softmax(x)", "-i", "x=f32[8,16]", "--device", "cpu", environment={"SMELT_LLVM": "/nowhere"}
        )
        self.assertTrue(document["interpreted"])
        self.assertIn("Not compiled", self.text(".notice"))
        self.assertIn("unknown", self.text("#memory"))

    def test_names_are_data(self):
        nasty = "<img src=x onerror=alert(1)></script><script>window.bad = 1</script>"
        path = os.path.join(self.folder.name, "nasty.smelt")
        pathlib.Path(path).write_text(f"# {nasty}\ninput x: f32[8]\nreturn x + 1\n")
        document = self.show(path, "--device", "cpu")
        self.assertIn(nasty, document["program"]["text"])
        self.assertIn(nasty, self.text(".program pre"))
        self.assertIsNone(self.value("window.bad ?? null"))
        self.assertEqual(self.value(count("img")), 0)

    def test_another_version(self):
        path, document = self.page(*PLUS_ONE)
        document["version"] = [2, 0]
        other = os.path.join(self.folder.name, "other.json")
        pathlib.Path(other).write_text(json.dumps(document))
        subprocess.run([self.smelt, "report", "--from", other, "-o", other + ".html"], check=True, capture_output=True)
        self.browser.open(other + ".html")
        self.assertIn("version", self.text(".notice"))


class Looks(Pages):
    def test_light_and_dark(self):
        background = "getComputedStyle(document.body).backgroundColor"
        self.show(*LAYERNORM)
        self.assertEqual(self.value(background), "rgb(255, 255, 255)")
        self.show(*LAYERNORM, dark=True)
        self.assertEqual(self.value(background), "rgb(17, 22, 28)")
        self.browser.click("#theme")
        self.assertEqual(self.value(background), "rgb(255, 255, 255)")
        self.browser.click("#theme")
        self.assertEqual(self.value(background), "rgb(17, 22, 28)")

    def test_text_has_contrast(self):
        """WCAG AA: 4.5 to 1, or 3 where it is large, of all text that is drawn, in both themes."""
        for arguments in (LAYERNORM, TWO_KERNELS, ["t[i] * s", "-i", "t=f32[64]", "-i", "i=iota:i32[64]", "-i", "s=f32[64]"]):
            for dark in (False, True):
                self.show(*arguments, dark=dark)
                found = self.value(CONTRASTS)
                self.assertGreater(len(found), 20)
                low = [f for f in found if f["ratio"] < (3 if f["large"] else 4.5)]
                self.assertEqual(low, [])
                # And what is lit, or pinned.
                self.value("document.querySelectorAll('tr, .line').forEach((e) => e.classList.add('lit'))")
                low = [f for f in self.value(CONTRASTS) if f["ratio"] < (3 if f["large"] else 4.5)]
                self.assertEqual(low, [])

    def test_colours_of_drawings_have_contrast(self):
        """Of the custom properties: what is drawn 3 to 1 on what it is drawn on, text of drawings 4.5 to 1."""
        text = (ROOT / "src/report/page/page.css").read_text()
        themes = re.findall(r"\{([^{}]*--page:[^{}]*)\}", text)
        self.assertEqual(len(themes), 3)  # light, dark, and dark by choice
        for theme in themes:
            colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", theme))
            for ground in ("page", "panel", "soft"):
                for drawn in ("load", "store", "chip", "cut"):
                    self.assertGreaterEqual(ratio(colour[drawn], colour[ground]), 3, (drawn, ground, theme))
                for written in ("text", "faint", "load-text", "store-text", "cut-text"):
                    self.assertGreaterEqual(ratio(colour[written], colour[ground]), 4.5, (written, ground, theme))

    def test_every_control_has_a_name(self):
        self.show(*TWO_KERNELS)
        tree = self.browser.send("Accessibility.getFullAXTree")["nodes"]
        for node in tree:
            if not node.get("ignored") and node["role"]["value"] in (
                "button",
                "combobox",
                "textbox",
                "slider",
                "spinbutton",
                "link",
            ):
                self.assertTrue(node.get("name", {}).get("value"), node)

    def test_everything_by_the_keyboard(self):
        self.show(*TWO_KERNELS)
        reached = set()
        for _ in range(400):
            self.browser.key("Tab", code=9)
            name = self.value(
                "(() => { const e = document.activeElement; return e.id || e.getAttribute('data-call') || e.getAttribute('data-kernel') || e.getAttribute('class') || e.tagName; })()"
            )
            reached.add(str(name))
            if name == "BODY":
                break
        for wanted in ("theme", "step", "element", "0", "1", "cross", "add-operation", "dot"):
            self.assertTrue(any(wanted == name or wanted in name.split() for name in reached), f"{wanted} of {reached}")

    def test_help_opens(self):
        self.show(*LAYERNORM)
        self.browser.key("?", "?")
        self.assertTrue(self.value("document.getElementById('help').open"))

    def test_it_prints(self):
        self.show(*LAYERNORM)
        self.assertGreater(len(self.browser.send("Page.printToPDF", limit_s=60)["data"]), 20000)


class Budgets(Pages):
    @staticmethod
    def chain(operations):
        ops = ["y = exp(y * 0.5)", "y = y + sum(y, axis=1, keepdims=True)", "y = maximum(y, 0.25)", "y = tanh(y)"]
        lines = ["input x: f32[64, 128]", "y = x"] + [ops[i % len(ops)] for i in range(operations // 2)]
        return "\n".join(lines + ["return y"])

    def test_two_hundred_operations(self):
        path = os.path.join(self.folder.name, "chain.smelt")
        pathlib.Path(path).write_text(self.chain(280))
        page, document = self.page(path, "--device", "cpu")
        self.assertGreaterEqual(len(document["plans"]["unfused"]["kernels"]), 200)
        self.assertLess(os.path.getsize(page), 1.5e6)
        # Its machine code for a GPU is far longer than what is shown of it.
        if subprocess.run([self.smelt, "explain", "x", "-i", "x=f32[4]", "--device", "sm_90"], capture_output=True).returncode == 0:
            for_gpu, _ = self.page(path, "--device", "sm_90", "--no-run")
            self.assertLess(os.path.getsize(for_gpu), 1.5e6)
        start = time.monotonic()
        self.browser.open(page)
        self.assertLess(time.monotonic() - start, 5)

    def test_ten_thousand_operations_are_counted_by_kind(self):
        """A document of many kernels, made from a small one: the compiler is not what is measured."""
        _, document = self.page("exp(x) + 1", "-i", "x=f32[64]", "--device", "cpu", "--no-run")
        nodes, kernels = [document["graph"]["nodes"][0]], []
        nodes[0].update(id=0, args=[])
        for i in range(1, 10001):
            nodes.append(
                {
                    "id": i,
                    "op": "exp" if i % 2 else "add",
                    "kind": "compute",
                    "label": "",
                    "dtype": "f32",
                    "shape": [64],
                    "bytes": 256,
                    "args": [i - 1],
                }
            )
            value = {"name": f"%{i}", "dtype": "f32", "shape": [64], "bytes": 256}
            kernels.append(
                {
                    "nodes": [i],
                    "strategy": "pointwise",
                    "note": "",
                    "reads": [{**value, "node": i - 1}],
                    "writes": [{**value, "node": i}],
                    "bytes_read": 256,
                    "bytes_written": 256,
                }
            )
        document["graph"].update(nodes=nodes, outputs=[10000], inputs=[0], calls=[])
        plans = document["plans"]
        plans["fused"].update(kernels=kernels, decisions=[], launches=[])
        plans["unfused"].update(
            kernels=[
                {
                    "nodes": k["nodes"],
                    "strategy": "pointwise",
                    "reads": [k["reads"][0]["node"]],
                    "writes": k["nodes"],
                    "bytes_read": 256,
                    "bytes_written": 256,
                }
                for k in kernels
            ],
            launches=[],
        )
        document["replay"] = {
            "steps": [],
            "states": [{"steps": 0, "kernels": 10000, "bytes": 5120000, "predicted_ms": None}],
        }
        path = os.path.join(self.folder.name, "large.json")
        pathlib.Path(path).write_text(json.dumps(document))
        subprocess.run([self.smelt, "report", "--from", path, "-o", path + ".html"], check=True, capture_output=True)
        self.browser.open(path + ".html")
        self.assertEqual(len(self.rows("kinds-after")), 2)
        self.assertNotIn("null", self.text("#readout"))
        self.assertLess(self.value("document.querySelectorAll('*').length"), 20000)


class Served(Pages):
    def test_a_served_page_follows_its_file(self):
        path = os.path.join(self.folder.name, "served.smelt")
        pathlib.Path(path).write_text("input x: f32[64]\nreturn x + 1\n")
        server = subprocess.Popen(
            [self.smelt, "report", path, "--device", "cpu", "--no-run", "--serve", "0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            address = server.stdout.readline().split()[1]
            self.browser.open(address)
            self.assertIn("return x + 1", self.text(".program pre"))
            pathlib.Path(path).write_text("input x: f32[64]\nreturn relu(x * 2) + 1\n")
            self.browser.wait("document.querySelector('.program pre')?.textContent.includes('relu') ?? false")
            pathlib.Path(path).write_text("input x: f32[64]\nreturn relu(x * \n")
            self.browser.wait("document.getElementById('error')?.textContent.includes('error') ?? false")
            pathlib.Path(path).write_text("input x: f32[64]\nreturn exp(x)\n")
            self.browser.wait("document.querySelector('.program pre')?.textContent.includes('exp') ?? false")
            # Two changes at one time, as where a clock is coarse.
            time_of = os.stat(path)
            pathlib.Path(path).write_text("input x: f32[64]\nreturn log(x)\n")
            os.utime(path, ns=(time_of.st_atime_ns, time_of.st_mtime_ns))
            self.browser.wait("document.querySelector('.program pre')?.textContent.includes('log') ?? false")
            refused = subprocess.run(
                ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: elsewhere.example", address],
                capture_output=True,
                text=True,
            )
            self.assertIn(refused.stdout, ("403", ""))
        finally:
            # The page first: it would complain of a server that no longer answers.
            self.browser.send("Page.navigate", url="about:blank")
            server.terminate()
            server.wait()
            server.stdout.close()


if __name__ == "__main__":
    main(__doc__)
