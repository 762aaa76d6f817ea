#!/usr/bin/env python3
"""Checks the definitions for editors: runs lua-language-server and emmylua_check, whichever is on
the PATH, on the templates, the examples and the Lua blocks of the manual.

    python3 tests/editors.py target/debug/engine

Each template, example and block is copied to a folder of its own, with the settings of a new game.
Prints the diagnostics, and exits with 1 if there are any that are not in KNOWN."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETTINGS = (".luarc.json", ".emmyrc.json")
# Diagnostics that are faults of a server: its name, the page, the code and a part of the message.
# lua-language-server 3.19.1 does not bind the parameter of `x -> 2 * x`.
KNOWN = (("lua-language-server", "lua.md", "undefined-global", "`x`"),)
# The porting layer is in no definitions, because other games do not have its names.
LEFT_OUT = ("coming_from_stingray.md",)


def blocks(page):
    """The Lua blocks of a page, each with its first line number, as in tests/manual.rs."""
    start, text = None, []
    with open(page, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            mark = line.strip()
            if start is None and mark == "```lua":
                start, text = number + 1, []
            elif start is not None and mark == "```":
                yield start, "".join(text)
                start = None
            else:
                text.append(line)


def copy_scripts(source, folder):
    for path, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name != ".engine"]
        for name in files:
            if name.endswith(".lua"):
                target = os.path.join(folder, os.path.relpath(path, source))
                os.makedirs(target, exist_ok=True)
                shutil.copy(os.path.join(path, name), target)


def add_block(folder, text):
    copy_scripts(f"{ROOT}/tests/manual", folder)
    os.makedirs(f"{folder}/tests", exist_ok=True)
    is_suite = any(line.startswith(("describe(", "it(")) for line in text.splitlines())
    with open(f"{folder}/{'tests/page_test' if is_suite else 'main'}.lua", "w") as file:
        file.write(text)


def games(engine, out):
    """Creates the folders, and returns their names."""
    for kind in ("2d", "3d", "platformer", "empty"):
        new = [engine, "new", f"template-{kind}", "--template", kind]
        subprocess.run(new, cwd=out, check=True, stdout=subprocess.DEVNULL)
    for name in os.listdir(f"{ROOT}/examples"):
        if os.path.isdir(f"{ROOT}/examples/{name}"):
            copy_scripts(f"{ROOT}/examples/{name}", f"{out}/example-{name}")
    pages = [f"{ROOT}/docs/{name}" for name in os.listdir(f"{ROOT}/docs")]
    for page in [f"{ROOT}/README.md", *pages]:
        name = os.path.basename(page)
        if name.endswith(".md") and name not in LEFT_OUT:
            for line, text in blocks(page):
                add_block(f"{out}/{name}-{line}", text)
    for name in os.listdir(out):
        shutil.rmtree(f"{out}/{name}/.engine", ignore_errors=True)
        definitions = [engine, "docs", "--luacats", "--out", f"{out}/{name}/.engine/definitions"]
        subprocess.run(definitions, check=True, stdout=subprocess.DEVNULL)
        for file in SETTINGS:
            shutil.copy(f"{ROOT}/game_template/{file}", f"{out}/{name}")
    return sorted(os.listdir(out))


def command(checker, folder, report):
    if checker == "emmylua_check":
        return [checker, folder, "-f", "json", "--output", report, "--severity", "hint"]
    return [checker, "--check", folder, "--checklevel=Hint", "--check_format=json",
            f"--check_out_path={report}", f"--logpath={report}.log", f"--metapath={report}.meta"]


def check(checker, folder, report):
    """Returns the diagnostics of a folder, as lines."""
    run = subprocess.run(command(checker, folder, report), capture_output=True, text=True)
    if not os.path.exists(report):
        sys.exit(f"{checker} wrote no report of {folder}:\n{run.stdout}{run.stderr}")
    with open(report, encoding="utf-8") as file:
        found = json.load(file)
    if isinstance(found, list):
        found = {item["file"]: item["diagnostics"] for item in found}
    lines = []
    for path, items in sorted(found.items()):
        path = urllib.parse.unquote(path).removeprefix("file://")
        path = os.path.relpath(path, os.path.dirname(folder))
        for item in items:
            page = os.path.basename(folder).rsplit("-", 1)[0]
            if any(known[:3] == (checker, page, item["code"]) and known[3] in item["message"]
                   for known in KNOWN):
                continue
            line = item["range"]["start"]["line"] + 1
            lines.append(f"{checker}: {path}:{line}: {item['message']} ({item['code']})")
    return lines


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python3 tests/editors.py ENGINE")
    known = ("lua-language-server", "emmylua_check")
    checkers = [name for name in known if shutil.which(name)]
    if not checkers:
        sys.exit(f"none of {', '.join(known)} is on the PATH")
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        out, reports = f"{folder}/games", f"{folder}/reports"
        os.mkdir(out)
        os.mkdir(reports)
        names = games(os.path.abspath(sys.argv[1]), out)
        for checker in checkers:
            for name in names:
                lines = check(checker, f"{out}/{name}", f"{reports}/{checker}-{name}.json")
                count += len(lines)
                print("".join(f"{line}\n" for line in lines), end="", flush=True)
    print(f"{', '.join(checkers)}: {len(names)} folders, {count} diagnostics")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
