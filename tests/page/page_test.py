#!/usr/bin/env python3
"""The views of the page of smelt report: each drawn, clicked and compared with the document. 77: no Chromium.

Usage: page_test.py path/to/smelt [CLASS ...]
"""

import json
import os
import pathlib
import subprocess

from pages import LAYERNORM, PLUS_ONE, TWO_KERNELS, Pages, count, main


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
        self.value(
            f"var i = document.querySelector('input.index'); i.value = '{index}'; i.dispatchEvent(new Event('change'))"
        )
        self.assertIn("e=2", self.value("location.hash"))
        shown = {row[0]: row for row in self.rows("results")}
        self.assertAlmostEqual(float(shown["fused"][1]), last["fused"], places=5)
        self.assertAlmostEqual(float(shown["reference (float64)"][1]), last["reference"], places=5)

    def test_not_run(self):
        self.show(*PLUS_ONE, "--no-run")
        self.assertIn("was not run", self.text("#value"))


class Memory(Pages):
    def test_every_access_is_a_row_with_its_sectors(self):
        document = self.show(*LAYERNORM)
        accesses = [a for launch in document["plans"]["fused"]["launches"][0] for a in launch["accesses"]]
        self.assertEqual(self.value(count("[data-access]")), len(accesses))
        strips = self.value(
            "[...document.querySelectorAll('svg.strip')].map((s) => Number(s.getAttribute('data-sectors')))"
        )
        self.assertEqual(strips, [a["sectors"] for a in accesses])

    def test_bad_accesses_are_marked(self):
        document = self.show("x[::8] + 1", "-i", "x=f32[65536]", "--device", "cpu")
        bad = [
            a
            for launch in document["plans"]["fused"]["launches"][0]
            for a in launch["accesses"]
            if a["sectors"] > 1.5 * a["ideal_sectors"]
        ]
        self.assertTrue(bad)
        self.assertEqual(self.value(count("tr.bad")), len(bad))

    def test_the_selected_kernel_is_shown_everywhere(self):
        document = self.show(*TWO_KERNELS)
        self.assertGreater(len(document["plans"]["fused"]["kernels"]), 1)
        self.value(
            "var p = document.querySelector('#memory .kernel-picker'); p.value = 1; p.dispatchEvent(new Event('change'))"
        )
        self.assertEqual(self.value("document.querySelector('#threads .kernel-picker').value"), "1")
        self.assertTrue(self.attribute("[data-access]", "data-access").startswith("1."))
        self.assertEqual(self.attribute(".kernel.selected", "data-kernel"), "1")
        self.value("document.querySelector('[data-kernel=\"0\"]').dispatchEvent(new MouseEvent('click'))")
        self.assertTrue(self.attribute("[data-access]", "data-access").startswith("0."))


class Laws(Pages):
    def test_figures_are_those_of_the_document(self):
        document = self.show(*LAYERNORM)
        traffic = document["plans"]["fused"]["traffic"]
        self.assertEqual(
            int(self.attribute("[data-saved]", "data-saved")), traffic["unfused_bytes"] - traffic["fused_bytes"]
        )
        self.assertEqual(self.attribute("[data-correct]", "data-correct"), "true")
        speedups = [
            float(row)
            for row in self.value(
                "[...document.querySelectorAll('[data-speedup]')].map((s) => s.getAttribute('data-speedup'))"
            )
        ]
        self.assertAlmostEqual(speedups[1], traffic["unfused_bytes"] / traffic["fused_bytes"])
        self.assertEqual(speedups[0], (10 + 9) / 2)

    def test_the_calculator_is_exact(self):
        self.show(*PLUS_ONE)
        chains = [
            [("a", 4096, 4096), ("b", 4096, 1)],
            [("a", 0, 0)],
            [("a", 10**18, 10**18), ("b", 10**18, 3), ("c", 3, 3)],
            [("a", 1, 2), ("b", 2, 5), ("c", 5, 7)],
        ]
        for chain in chains:
            while self.value(count("#savings tbody tr button")) > 0:
                self.browser.click("#savings tbody tr button")
            for name, size_in, size_out in chain:
                self.browser.click("#add-operation")
                n = self.value(count("#savings tbody tr button")) - 1
                for field, text in (("name", name), ("input", size_in), ("output", size_out)):
                    self.value(
                        f"var f = document.querySelector('[data-field={field}{n}]'); f.value = '{text}'; f.dispatchEvent(new Event('input'))"
                    )
            listing = os.path.join(self.folder.name, "ops.json")
            pathlib.Path(listing).write_text(
                json.dumps([{"name": n, "input_size": i, "output_size": o} for n, i, o in chain])
            )
            shown = {row[0]: row[1] for row in self.rows("savings")}
            made = subprocess.run(
                [self.smelt, "savings", listing, "--dtype-bytes", "4", "--json", "-"], capture_output=True, text=True
            )
            if made.returncode != 0:  # past 64 bits, where the page still is exact
                total = 4 * sum(i + o for _, i, o in chain)
                self.assertEqual(int(shown["unfused_bytes"]), total)
                continue
            for key, value in json.loads(made.stdout).items():
                self.assertAlmostEqual(float(shown[key]), value, msg=f"{key} of {chain}")

    def test_the_calculator_says_what_is_wrong(self):
        self.show(*PLUS_ONE)
        self.value(
            "var f = document.querySelector('[data-field=input0]'); f.value = 'many'; f.dispatchEvent(new Event('input'))"
        )
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
        document = self.show(*self.without_a_gpu())
        function = document["plans"]["fused"]["kernels"][0]["functions"][0]
        built = {row[0]: row[1] for row in self.rows("built")}
        self.assertEqual(built["registers per thread"], str(function["registers"]))
        self.assertEqual(int(built["registers allocated"]) % 8, 0)
        self.assertGreaterEqual(int(built["registers allocated"]), function["registers"])
        self.assertEqual(built["occupancy"], "unknown")
        launch = document["plans"]["fused"]["launches"][0][0]
        self.assertEqual(int(self.attribute(".launch", "data-workgroups")), launch["workgroups"])
        self.assertIn("without such a GPU", self.text(".notice"))
        loop, team = launch["loops"][0], launch["team"]
        self.value("var t = document.querySelector('input.thread'); t.value = 5; t.dispatchEvent(new Event('input'))")
        first = 5 * loop["lanes"]
        self.assertIn(f"{first}\u2013{first + loop['lanes'] - 1}", self.rows("elements")[0][1])
        self.assertGreaterEqual(team, 5)


class Source(Pages):
    def pick(self, side, stage):
        self.value(
            f"""var p = document.querySelector('[data-pane="{side}"]'); p.value = [...p.options].findIndex((o) => o.textContent === {json.dumps(stage)});
            p.dispatchEvent(new Event('change'))"""
        )

    def test_texts_are_shown_and_linked(self):
        document = self.show(*LAYERNORM)
        self.assertEqual(self.value(count('[data-pane="left"] option')), len(document["texts"]))
        self.pick("right", "Graph")
        first = document["texts"][1]["text"].split("\n")[0]
        self.assertEqual(
            self.value("document.querySelectorAll('.code')[1].querySelector('.line .text').textContent"), first
        )
        self.value("document.querySelectorAll('.code')[0].querySelectorAll('.line.linked')[1].click()")
        self.assertGreater(
            self.value("document.querySelectorAll('.code')[1].querySelectorAll('.line.pinned').length"), 3
        )
        self.browser.key("Escape", code=27)
        self.assertEqual(self.value(count(".pinned")), 0)

    def check_machine_code(self, document, source, machine):
        """Hovering over a line of machine code lights the line of the source that it is from."""
        self.pick("left", source)
        self.pick("right", machine)
        text = document["texts"][-1]
        line = next(line for n, (_, line) in enumerate(text["source_lines"]) if line > 0 and n >= 2)
        at = next(n for n, of in text["source_lines"] if of == line)
        self.value(f"document.querySelectorAll('.code')[1].scrollTop = {max(0, at - 5) * 18}")
        wanted = f"[...document.querySelectorAll('.code')[1].querySelectorAll('.line')].find((l) => l.getAttribute('data-line') === '{at + 1}')"
        self.browser.wait(f"{wanted} !== undefined")
        self.assertEqual(self.value(f"{wanted}.getAttribute('data-source')"), str(line))
        self.value(f"{wanted}.click()")
        self.browser.wait(
            "[...document.querySelectorAll('.code')[0].querySelectorAll('.line.pinned')].some((l) => "
            f"l.getAttribute('data-line') === '{line}')"
        )
        # The other text may still be on its way to the line, which draws it again.
        self.browser.wait(
            f"{wanted}.dispatchEvent(new PointerEvent('pointerenter')) && "
            f"document.querySelectorAll('.code')[0].querySelector('.line.lit[data-line=\"{line}\"]') !== null"
        )
        self.browser.key("Escape", code=27)

    def test_assembly_is_linked_with_the_source(self):
        document = self.show(*LAYERNORM)
        self.assertEqual(document["texts"][-1]["stage"], "asm")
        self.check_machine_code(document, "LLVM IR", "Assembly")
        # Machine code is about operations of the program, by the lines that it is from.
        relu = next(n["id"] for n in document["graph"]["nodes"] if n["label"] == "relu")
        self.value("document.querySelectorAll('.code')[1].scrollTop = 0")
        self.pick("left", "Program")
        self.value(
            "[...document.querySelectorAll('.code')[0].querySelectorAll('.line.linked')]"
            f".find((l) => l.getAttribute('data-nodes').split(' ').includes('{relu}')).click()"
        )
        self.browser.wait("document.querySelectorAll('.code')[1].querySelector('.line.pinned') !== null")
        self.browser.key("Escape", code=27)
        self.pick("left", "LLVM IR")
        # Loads of the input are about its node.
        self.assertGreater(
            self.value(
                "[...document.querySelectorAll('.code')[0].querySelectorAll('.line')].filter((l) => "
                "/= load </.test(l.textContent) && l.getAttribute('data-nodes')).length"
            ),
            0,
        )

    def test_ptx_is_linked_with_the_source(self):
        document = self.show(*self.without_a_gpu())
        self.assertEqual(document["texts"][-1]["stage"], "ptx")
        self.check_machine_code(document, "CUDA C++", "PTX")

    def test_only_lines_in_view_are_in_the_document(self):
        self.show(*LAYERNORM)
        self.pick("right", "Assembly")
        self.assertLess(self.value(count(".line")), 200)
        self.value("document.querySelectorAll('.code')[1].scrollTop = 2000")
        self.browser.wait(
            "[...document.querySelectorAll('.code')[1].querySelectorAll('.line')].some((l) => Number(l.getAttribute('data-line')) > 110)"
        )


if __name__ == "__main__":
    main(__doc__)
