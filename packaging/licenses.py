#!/usr/bin/env python3
"""Collects the licence texts of all libraries in the engine, for packages of games.

  packaging/licenses.py [--check]

Writes packaging/licenses/libraries.txt from the sources that cargo has downloaded. With --check it
writes nothing, and fails if the file would change.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "packaging/licenses/libraries.txt"
TARGETS = ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-gnu", "aarch64-apple-darwin"]
NAMES = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Libraries in C that crates compile from sources of their own, with the file that has the licence.
EMBEDDED = {"luajit-src": ["luajit2/COPYRIGHT"], "libmimalloc-sys": ["c_src/mimalloc/v3/LICENSE"]}


def used_packages(metadata):
    """Returns the packages that are linked into the engine, on any desktop."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, rest = set(), [metadata["resolve"]["root"]]
    while rest:
        current = rest.pop()
        if current in found:
            continue
        found.add(current)
        for dependency in nodes[current]["deps"]:
            # Tests and build scripts ship with nobody, but LuaJIT's source comes by a build script.
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            if None in kinds or dependency["name"] in ("luajit_src",):
                rest.append(dependency["pkg"])
    return [packages[package] for package in found if packages[package]["source"]]


def texts(package):
    """Returns the licence texts of a package."""
    folder = Path(package["manifest_path"]).parent
    files = [file for file in sorted(folder.iterdir()) if file.is_file() and NAMES.match(file.name)]
    mit = [file for file in files if "mit" in file.name.lower()]
    if mit and re.search(r"\bOR\b|/", package["license"] or ""):
        # One of several licences is enough, and this one is short.
        files = mit + [file for file in files if re.match("notice|copyright", file.name.lower())]
    files += [folder / name for name in EMBEDDED.get(package["name"], [])]
    if not files and (folder / "LICENSES").is_dir():
        files = sorted((folder / "LICENSES").iterdir())
    read = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in read]


def read_metadata(targets):
    """Returns what cargo knows about all packages for some targets."""
    command = ["cargo", "metadata", "--format-version", "1", "--offline"]
    for target in targets:
        command += ["--filter-platform", target]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def main():
    metadata = read_metadata(TARGETS)
    packages = sorted(used_packages(metadata), key=lambda it: (it["name"], it["version"]))
    owners, without = {}, []
    for package in packages:
        found = texts(package)
        name = f'{package["name"]} {package["version"]}'
        if not found:
            without.append((name, package))
        for text in found:
            owners.setdefault(text, []).append(name)
    out = [
        "Libraries in the engine, with their licences. Written by packaging/licenses.py.",
        "Of a library with a choice of licences, the text of one is here. The text of Apache-2.0 is",
        "also a file next to this one.",
        "",
    ]
    for package in packages:
        out.append(f'{package["name"]} {package["version"]}: {package["license"] or "see below"}')
    if without:
        out += ["", "These libraries state their licence without a text of it:", ""]
        for name, package in without:
            authors = ", ".join(re.sub(r" *<[^>]*>", "", author) for author in package["authors"])
            out.append(f"{name}: {package['license']}" + (f", by {authors}" if authors else ""))
    for text, names in sorted(owners.items(), key=lambda it: it[1]):
        out += ["", "=" * 80, ", ".join(names), "=" * 80, "", text]
    text = "\n".join(out) + "\n"
    if "--check" in sys.argv[1:]:
        if not OUT.is_file() or OUT.read_text() != text:
            sys.exit(f"{OUT} is stale: run packaging/licenses.py")
    else:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(text)
        print(f"{OUT}: {len(packages)} libraries, {len(owners)} texts, {len(text)} bytes")


if __name__ == "__main__":
    main()
