"""What the module asks of the system that it is loaded on. scripts/wheel.sh makes a wheel of the same files, for manylinux_2_28."""

import platform
import re

import pytest

import smelt

elffile = pytest.importorskip("elftools.elf.elffile")  # comes with auditwheel

LATEST = {"GLIBC": (2, 28), "GCC": (7, 0, 0)}
# A wheel has no libfmt (SMELT_FMT_HEADER_ONLY).
LIBRARIES = re.compile(r"lib(c|m|dl|pthread|gcc_s)\.so\.\d|ld-linux-.*|libfmt\.so\.\d+")

library, version = platform.libc_ver()
old_enough = pytest.mark.skipif(
    library != "glibc" or tuple(map(int, version.split("."))) > (2, 36) or platform.machine() not in ("x86_64", "aarch64"),
    reason="manylinux wheels are made on Debian 12, or where glibc is older")


def needed() -> "list[tuple[str, str]]":
    """Libraries, and the versions that symbols need of them."""
    with open(smelt._smelt.__file__, "rb") as file:
        section = elffile.ELFFile(file).get_section_by_name(".gnu.version_r")
        return [(library.name, version.name) for library, versions in section.iter_versions() for version in versions]


def libraries() -> "list[str]":
    with open(smelt._smelt.__file__, "rb") as file:
        return [tag.needed for tag in elffile.ELFFile(file).get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]


@old_enough
def test_versions_of_symbols_are_those_of_manylinux_2_28():
    for library, version in needed():
        name, _, number = version.partition("_")
        if not library.startswith("libfmt"):
            assert name in LATEST and tuple(map(int, number.split("."))) <= LATEST[name], f"{library} {version}"


@old_enough
def test_libraries_are_those_that_every_system_has():
    assert [name for name in libraries() if not LIBRARIES.fullmatch(name)] == []


@old_enough
def test_the_module_defines_nothing_but_itself():
    with open(smelt._smelt.__file__, "rb") as file:
        symbols = elffile.ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        assert [s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF" and s.name] == ["PyInit__smelt"]
