#!/usr/bin/env python3
"""The page of smelt report in a headless Chromium: every view drawn, clicked and compared with the document. 77: there is none.

Usage: page_test.py path/to/smelt [NAME ...]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import browser as chromium  # noqa: E402

SMELT = ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERNORM = [str(ROOT / "examples/relu_layernorm.smelt"), "-i", "x=f32[64,256]", "--device", "cpu"]
TWO_KERNELS = ["softmax(x).T + mean(x, axis=0, keepdims=True).T", "-i", "x=f32[512,512]", "--device", "cpu"]
COUNT = "document.querySelectorAll(%s).length"


def count(selector):
    return COUNT % json.dumps(selector)


class Pages(unittest.TestCase):
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
            command = [SMELT, "report", *arguments, "--time-limit", "0.02", "-o", base + ".html", "--json", base + ".json"]
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

    def value(self, expression):
        return self.browser.evaluate(expression)

    def attribute(self, selector, name):
        return self.value(f"document.querySelector({json.dumps(selector)})?.getAttribute({json.dumps(name)})")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def rows(self, table):
        return self.value(f"[...document.querySelectorAll('[data-table=\"{table}\"] tbody tr')].map((r) => "
                          "[...r.cells].map((c) => c.textContent))")

    def tearDown(self):
        self.assertEqual(self.browser.problems(), [])


class FirstScreen(Pages):
    def test_says_what_changed(self):
        document = self.show(*LAYERNORM)
        self.assertEqual(int(self.attribute(".verdict", "data-before")), len(document["plans"]["unfused"]["kernels"]))
        self.assertEqual(int(self.attribute(".verdict", "data-after")), len(document["plans"]["fused"]["kernels"]))
        rows = {row[0]: row for row in self.rows("summary")}
        self.assertEqual(rows["kernels"][1], "10")
        self.assertEqual(rows["kernels"][3], "1")
        self.assertIn("measured", [row[-1] for row in self.rows("summary")])

    def test_fits_a_screen(self):
        self.show(*LAYERNORM)
        self.assertLess(self.value("document.querySelector('.next').getBoundingClientRect().bottom"), 720)

    def test_every_section_is_there(self):
        self.show(*LAYERNORM)
        for section in ("summary", "graph", "value", "threads", "memory", "laws", "limits", "source"):
            self.assertEqual(self.value(count("#" + section)), 1, section)

    def test_nothing_is_wider_than_the_page(self):
        for width in (320, 800, 1280, 1920):
            self.show(*TWO_KERNELS, width=width)
            self.assertLessEqual(self.value("document.documentElement.scrollWidth"), width)


class Graph(Pages):
    def test_the_slider_goes_from_unfused_to_fused(self):
        document = self.show(*LAYERNORM)
        states = document["replay"]["states"]
        slider = "document.getElementById('step')"
        for step in range(len(states)):
            self.value(f"{slider}.value = {step}; {slider}.dispatchEvent(new Event('input'))")
            self.assertEqual(int(self.attribute("#readout [data-kernels]", "data-kernels")), states[step]["kernels"])
            self.assertEqual(int(self.attribute("#readout [data-bytes]", "data-bytes")), states[step]["bytes"])
            self.assertEqual(int(self.attribute("#after svg.graph", "data-kernels")), states[step]["kernels"])
            self.assertIn(f"step={step}", self.value("location.hash"))

    def test_keys_move_the_slider(self):
        self.show(*LAYERNORM)
        last = int(self.attribute("#step", "max"))
        self.browser.key("[", "[")
        self.assertEqual(int(self.value("document.getElementById('step').value")), last - 1)
        self.value("document.getElementById('step').focus()")
        self.browser.key("Home", code=36)
        self.assertEqual(self.attribute("#readout [data-step]", "data-step"), "0")
        self.assertEqual(self.attribute("#step", "aria-valuetext").split(",")[0], "10 kernels")

    def test_calls_open_and_close(self):
        self.show(*LAYERNORM)
        before = self.value(count("#before .kernel"))
        self.browser.click("#before [data-call]")
        self.assertEqual(self.value(count("#before .kernel")), 10)
        self.assertLess(before, 10)
        chips = self.value(count("#after .chip"))
        self.value("document.querySelector('#after [data-call]').focus()")
        self.browser.key("Enter", "\r", 13)
        self.assertEqual(self.value(count("#after .chip")), chips + 9)
        self.browser.key("Enter", "\r", 13)
        self.assertEqual(self.value(count("#after .chip")), chips)

    def test_cuts_say_why(self):
        document = self.show(*TWO_KERNELS)
        cuts = [d for d in document["plans"]["fused"]["decisions"] if not d["fused"]]
        self.assertTrue(cuts)
        self.assertEqual(len(self.rows("cuts")), len(cuts) + len(document["plans"]["fused"]["read_again"]))
        self.browser.click("#after .cross")
        shown = self.text("[data-cut]")
        self.assertTrue(any(cut["reason"] in shown and cut["remedy"] in shown for cut in cuts), shown)

    def test_the_address_brings_a_state_back(self):
        self.show(*LAYERNORM, fragment="#step=2")
        self.assertEqual(self.attribute("#readout [data-step]", "data-step"), "2")

    def test_hovering_lights_what_belongs_together(self):
        self.show(*LAYERNORM)
        self.browser.hover("#after .chip")
        self.assertGreater(self.value(count(".lit")), 1)


class Values(Pages):
    def test_a_value_with_its_loads_and_stores(self):
        document = self.show("relu(x * 2) + 1", "-i", "x=iota:f32[64]", "--device", "cpu")
        self.assertEqual(document["trace"]["elements"][0]["reference"], 7)
        self.assertEqual(self.attribute("#value .lead", "data-unfused-loads"), "3")
        self.assertEqual(self.attribute("#value .lead", "data-fused-loads"), "1")
        ways = self.rows("way")
        self.assertEqual(len(ways), 3)
        self.assertIn("L 3", ways[0][2])
        self.assertIn("S 6", ways[0][2])
        self.assertNotIn("S", ways[0][3])
        self.assertIn("S 7", ways[2][3])

    def test_elements_are_chosen_by_list_and_index(self):
        document = self.show(*LAYERNORM)
        elements = document["trace"]["elements"]
        self.value("var e = document.getElementById('element'); e.value = 1; e.dispatchEvent(new Event('change'))")
        self.assertIn("e=1", self.value("location.hash"))
        last = elements[2]
        index = ", ".join(map(str, last["index"]))
        self.value(f"var i = document.querySelector('input.index'); i.value = '{index}'; i.dispatchEvent(new Event('change'))")
        self.assertIn("e=2", self.value("location.hash"))
        shown = {row[0]: row for row in self.rows("results")}
        self.assertAlmostEqual(float(shown["fused"][1]), last["fused"], places=5)
        self.assertAlmostEqual(float(shown["reference (float64)"][1]), last["reference"], places=5)

    def test_not_run(self):
        self.show("x + 1", "-i", "x=f32[8]", "--device", "cpu", "--no-run")
        self.assertIn("was not run", self.text("#value"))


class Memory(Pages):
    def test_every_access_is_a_row_with_its_sectors(self):
        document = self.show(*LAYERNORM)
        accesses = [a for launch in document["plans"]["fused"]["launches"][0] for a in launch["accesses"]]
        self.assertEqual(self.value(count("[data-access]")), len(accesses))
        strips = self.value("[...document.querySelectorAll('svg.strip')].map((s) => Number(s.getAttribute('data-sectors')))")
        self.assertEqual(strips, [a["sectors"] for a in accesses])

    def test_bad_accesses_are_marked(self):
        document = self.show("x[::8] + 1", "-i", "x=f32[65536]", "--device", "cpu")
        bad = [a for launch in document["plans"]["fused"]["launches"][0] for a in launch["accesses"]
               if a["sectors"] > 1.5 * a["ideal_sectors"]]
        self.assertTrue(bad)
        self.assertEqual(self.value(count("tr.bad")), len(bad))

    def test_the_selected_kernel_is_shown_everywhere(self):
        document = self.show(*TWO_KERNELS)
        self.assertGreater(len(document["plans"]["fused"]["kernels"]), 1)
        self.value("var p = document.querySelector('#memory .kernel-picker'); p.value = 1; p.dispatchEvent(new Event('change'))")
        self.assertEqual(self.value("document.querySelector('#threads .kernel-picker').value"), "1")
        self.assertTrue(self.attribute("[data-access]", "data-access").startswith("1."))
        self.assertEqual(self.attribute(".kernel.selected", "data-kernel"), "1")
        self.value("document.querySelector('[data-kernel=\"0\"]').dispatchEvent(new MouseEvent('click'))")
        self.assertTrue(self.attribute("[data-access]", "data-access").startswith("0."))


class Laws(Pages):
    def test_figures_are_those_of_the_document(self):
        document = self.show(*LAYERNORM)
        traffic = document["plans"]["fused"]["traffic"]
        self.assertEqual(int(self.attribute("[data-saved]", "data-saved")), traffic["unfused_bytes"] - traffic["fused_bytes"])
        self.assertEqual(self.attribute("[data-correct]", "data-correct"), "true")
        speedups = [float(row) for row in self.value("[...document.querySelectorAll('[data-speedup]')].map((s) => s.getAttribute('data-speedup'))")]
        self.assertAlmostEqual(speedups[1], traffic["unfused_bytes"] / traffic["fused_bytes"])
        self.assertEqual(speedups[0], (10 + 9) / 2)

    def test_the_calculator_is_exact(self):
        self.show("x + 1", "-i", "x=f32[8]", "--device", "cpu")
        chains = [[("a", 4096, 4096), ("b", 4096, 1)], [("a", 0, 0)],
                  [("a", 10**18, 10**18), ("b", 10**18, 3), ("c", 3, 3)], [("a", 1, 2), ("b", 2, 5), ("c", 5, 7)]]
        for chain in chains:
            while self.value(count("#savings tbody tr button")) > 0:
                self.browser.click("#savings tbody tr button")
            for name, size_in, size_out in chain:
                self.browser.click("#add-operation")
                n = self.value(count("#savings tbody tr button")) - 1
                for field, text in (("name", name), ("input", size_in), ("output", size_out)):
                    self.value(f"var f = document.querySelector('[data-field={field}{n}]'); f.value = '{text}'; f.dispatchEvent(new Event('input'))")
            listing = os.path.join(self.folder.name, "ops.json")
            pathlib.Path(listing).write_text(json.dumps([{"name": n, "input_size": i, "output_size": o} for n, i, o in chain]))
            shown = {row[0]: row[1] for row in self.rows("savings")}
            made = subprocess.run([SMELT, "savings", listing, "--dtype-bytes", "4", "--json", "-"], capture_output=True, text=True)
            if made.returncode != 0:  # past 64 bits, where the page still is exact
                total = 4 * sum(i + o for _, i, o in chain)
                self.assertEqual(int(shown["unfused_bytes"]), total)
                continue
            for key, value in json.loads(made.stdout).items():
                self.assertAlmostEqual(float(shown[key]), value, msg=f"{key} of {chain}")

    def test_the_calculator_says_what_is_wrong(self):
        self.show("x + 1", "-i", "x=f32[8]", "--device", "cpu")
        self.value("var f = document.querySelector('[data-field=input0]'); f.value = 'many'; f.dispatchEvent(new Event('input'))")
        self.assertIn("Row 1", self.text("#savings-result"))


class LimitsAndThreads(Pages):
    def test_kernels_are_dots_and_rows(self):
        document = self.show(*TWO_KERNELS)
        kernels = len(document["plans"]["fused"]["kernels"])
        self.assertEqual(self.value(count("[data-kernel-dot]")), kernels)
        self.assertEqual(len(self.rows("timeline")), kernels)
        self.assertEqual(len(self.rows("unfused-launches")), len(document["plans"]["unfused"]["kernels"]))
        self.browser.click('[data-kernel-dot="1"]')
        self.assertIn("k=1", self.value("location.hash"))
        candidates = document["plans"]["fused"]["kernels"][1].get("candidates", [])
        self.assertEqual(len(self.rows("candidates")), len(candidates))

    def test_a_gpu_that_is_not_here(self):
        arguments = [*LAYERNORM[:-1], "sm_90", "--no-run"]
        probe = subprocess.run([SMELT, "explain", "x", "-i", "x=f32[4]", "--device", "sm_90"], capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no NVRTC")
        document = self.show(*arguments)
        launch = document["plans"]["fused"]["launches"][0][0]
        self.assertEqual(int(self.attribute(".launch", "data-workgroups")), launch["workgroups"])
        self.assertIn("no such GPU", self.text(".notice"))
        loop, team = launch["loops"][0], launch["team"]
        self.value("var t = document.querySelector('input.thread'); t.value = 5; t.dispatchEvent(new Event('input'))")
        first = 5 * loop["lanes"]
        self.assertIn(f"{first}\u2013{first + loop['lanes'] - 1}", self.rows("elements")[0][1])
        self.assertGreaterEqual(team, 5)


class Source(Pages):
    def pick(self, side, stage):
        self.value(f"""var p = document.querySelector('[data-pane="{side}"]'); p.value = [...p.options].findIndex((o) => o.textContent === {json.dumps(stage)});
            p.dispatchEvent(new Event('change'))""")

    def test_texts_are_shown_and_linked(self):
        document = self.show(*LAYERNORM)
        self.assertEqual(self.value(count('[data-pane="left"] option')), len(document["texts"]))
        self.pick("right", "Graph")
        first = document["texts"][1]["text"].split("\n")[0]
        self.assertEqual(self.value("document.querySelectorAll('.code')[1].querySelector('.line .text').textContent"), first)
        self.value("document.querySelectorAll('.code')[0].querySelectorAll('.line.linked')[1].click()")
        self.assertGreater(self.value("document.querySelectorAll('.code')[1].querySelectorAll('.line.pinned').length"), 3)
        self.browser.key("Escape", code=27)
        self.assertEqual(self.value(count(".pinned")), 0)

    def test_only_lines_in_view_are_in_the_document(self):
        self.show(*LAYERNORM)
        self.pick("right", "Assembly")
        self.assertLess(self.value(count(".line")), 200)
        self.value("document.querySelectorAll('.code')[1].scrollTop = 2000")
        self.browser.wait("[...document.querySelectorAll('.code')[1].querySelectorAll('.line')].some((l) => Number(l.getAttribute('data-line')) > 110)")


class States(Pages):
    def test_one_operation(self):
        self.show("x + 1", "-i", "x=f32[8]", "--device", "cpu")
        self.assertIn("nothing to fuse", self.text(".verdict"))

    def test_nothing_computed(self):
        self.show("x", "-i", "x=f32[8]", "--device", "cpu")

    def test_no_intermediate(self):
        self.show("x + 1, x * 2", "-i", "x=f32[8]", "--device", "cpu")

    def test_many_kernels(self):
        program = "; ".join([f"y{i} = sum(exp(x{i}), axis=0)" for i in range(30)] + ["return " + ", ".join(f"y{i}" for i in range(30))])
        inputs = [word for i in range(30) for word in ("-i", f"x{i}=f32[{8 + i},{16 + i}]")]
        document = self.show(program, *inputs, "--device", "cpu")
        self.assertEqual(int(self.attribute("#after [data-kernels]", "data-kernels")), len(document["plans"]["fused"]["kernels"]))

    def test_batches(self):
        document = self.show(str(ROOT / "examples/horizontal.smelt"), "-i", "xs=12*f32[4096]", "--device", "cpu")
        self.assertEqual(document["plans"]["fused"]["kernels"][0]["strategy"], "batch")
        self.assertIn("side by side", self.text(".notice"))

    def test_symbolic_sizes(self):
        self.show("softmax(x)", "-i", "x=f32[B,C]", "--size", "B=8", "--size", "C=32", "--device", "cpu")
        self.assertIn("B=8", self.text(".facts"))

    def test_sizes_of_zero(self):
        self.show("x * 2 + 1", "-i", "x=f32[0]", "--device", "cpu")

    def test_nan_and_infinity(self):
        self.show("log(x - 1) / 0 + x * inf", "-i", "x=f32[64]", "--device", "cpu")
        self.assertIn("NaN", self.text("#element"))

    def test_only_the_interpreter(self):
        document = self.show("softmax(x)", "-i", "x=f32[8,16]", "--device", "cpu", environment={"SMELT_LLVM": "/nowhere"})
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
        path, document = self.page("x + 1", "-i", "x=f32[8]", "--device", "cpu")
        document["version"] = [2, 0]
        other = os.path.join(self.folder.name, "other.json")
        pathlib.Path(other).write_text(json.dumps(document))
        subprocess.run([SMELT, "report", "--from", other, "-o", other + ".html"], check=True, capture_output=True)
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

    def test_every_control_has_a_name(self):
        self.show(*TWO_KERNELS)
        tree = self.browser.send("Accessibility.getFullAXTree")["nodes"]
        for node in tree:
            if not node.get("ignored") and node["role"]["value"] in ("button", "combobox", "textbox", "slider", "spinbutton", "link"):
                self.assertTrue(node.get("name", {}).get("value"), node)

    def test_everything_by_the_keyboard(self):
        self.show(*TWO_KERNELS)
        reached = set()
        for _ in range(400):
            self.browser.key("Tab", code=9)
            name = self.value("(() => { const e = document.activeElement; return e.id || e.getAttribute('data-call') || e.getAttribute('data-kernel') || e.getAttribute('class') || e.tagName; })()")
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
        start = time.monotonic()
        self.browser.open(page)
        self.assertLess(time.monotonic() - start, 5)

    def test_ten_thousand_operations_are_counted_by_kind(self):
        """A document of many kernels, made from a small one: the compiler is not what is measured."""
        _, document = self.page("exp(x) + 1", "-i", "x=f32[64]", "--device", "cpu", "--no-run")
        nodes, kernels = [document["graph"]["nodes"][0]], []
        nodes[0].update(id=0, args=[])
        for i in range(1, 10001):
            nodes.append({"id": i, "op": "exp" if i % 2 else "add", "kind": "compute", "label": "", "dtype": "f32", "shape": [64], "bytes": 256, "args": [i - 1]})
            value = {"name": f"%{i}", "dtype": "f32", "shape": [64], "bytes": 256}
            kernels.append({"nodes": [i], "strategy": "pointwise", "note": "", "reads": [{**value, "node": i - 1}], "writes": [{**value, "node": i}], "bytes_read": 256, "bytes_written": 256})
        document["graph"].update(nodes=nodes, outputs=[10000], inputs=[0], calls=[])
        plans = document["plans"]
        plans["fused"].update(kernels=kernels, decisions=[], launches=[])
        plans["unfused"].update(kernels=[{"nodes": k["nodes"], "strategy": "pointwise", "reads": [k["reads"][0]["node"]], "writes": k["nodes"], "bytes_read": 256, "bytes_written": 256} for k in kernels], launches=[])
        document["replay"] = {"steps": [], "states": [{"steps": 0, "kernels": 10000, "bytes": 5120000, "predicted_ms": None}]}
        path = os.path.join(self.folder.name, "large.json")
        pathlib.Path(path).write_text(json.dumps(document))
        subprocess.run([SMELT, "report", "--from", path, "-o", path + ".html"], check=True, capture_output=True)
        self.browser.open(path + ".html")
        self.assertEqual(len(self.rows("kinds-after")), 2)
        self.assertLess(self.value("document.querySelectorAll('*').length"), 20000)


class Served(Pages):
    def test_a_served_page_follows_its_file(self):
        path = os.path.join(self.folder.name, "served.smelt")
        pathlib.Path(path).write_text("input x: f32[64]\nreturn x + 1\n")
        server = subprocess.Popen([SMELT, "report", path, "--device", "cpu", "--no-run", "--serve", "0"], stdout=subprocess.PIPE, text=True)
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
            refused = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: elsewhere.example", address], capture_output=True, text=True)
            self.assertIn(refused.stdout, ("403", ""))
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
            self.browser.send("Page.navigate", url="about:blank")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not chromium.find():
        print("skipped: there is no Chromium here (chromium-headless-shell, of Debian)")
        sys.exit(77)
    SMELT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
