"""What pages_test.py takes for the same output, and what not; which lines of a page it takes for commands."""
import pathlib
import tempfile
import unittest

import pages_test


def differ(page, printed, part=False, loose=False):
    return bool(pages_test.differences(page.splitlines(), printed.splitlines(), part, loose))


class Outputs(unittest.TestCase):
    def test_figures_of_a_machine_may_differ(self):
        self.assertFalse(differ("time    57.5 µs predicted, 136 µs unfused: 2.37 times as fast",
                                "time  8.1 µs predicted, 19 µs unfused: 2.34 times as fast"))
        self.assertFalse(differ("LLVM  /usr/lib/libLLVM.so.19", "LLVM  /opt/llvm/lib/libLLVM.so.17"))
        self.assertFalse(differ("fused   1   0.102 ± 0.004   33.6   7.12x", "fused   1   0.655 ± 0.2   33.6   12.58x", loose=True))

    def test_everything_else_may_not(self):
        self.assertTrue(differ("softmax(x)   1 kernel", "softmax(x)   2 kernels"))
        self.assertTrue(differ("bytes   240.0 MB moved", "bytes   560.0 MB moved"))
        self.assertTrue(differ("a\nb", "a\nb\nc"))
        self.assertTrue(differ("a\nb\nc", "a\nb"))
        self.assertTrue(differ("fused  1", "unfused  1", loose=True))

    def test_lines_may_be_left_out_where_the_page_says_so(self):
        self.assertFalse(differ("a\n...\nd", "a\nb\nc\nd"))
        self.assertFalse(differ("a\n...", "a\nb\nc"))
        self.assertTrue(differ("a\n...\ne", "a\nb\nc\nd"))
        self.assertFalse(differ("b\nd", "a\n  b\nc\nd\ne", part=True))
        self.assertTrue(differ("d\nb", "a\nb\nc\nd", part=True))


class Commands(unittest.TestCase):
    def commands(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            return [(command, expected) for _, command, expected, _ in pages_test.commands(pages_test.markdown.Page(page))]

    def test_with_output_and_without(self):
        self.assertEqual(self.commands("Text.\n\n    $ smelt run x \\\n        -i x=f32[4]\n    f32[4]\n    $ smelt ops\n"),
                         [("smelt run x -i x=f32[4]", ["f32[4]"]), ("smelt ops", [])])
        self.assertEqual(self.commands("    build/release/smelt run x -i x=f32[4]     # a note\n"),
                         [("build/release/smelt run x -i x=f32[4]", None)])

    def test_what_is_no_command(self):
        self.assertEqual(self.commands("    smelt run PROGRAM -i NAME=SPEC ...   runs a program\n    x = smelt\n"), [])
        self.assertEqual(self.commands("```python\nimport smelt\n```\n"), [])


if __name__ == "__main__":
    unittest.main()
