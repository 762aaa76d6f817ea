#!/usr/bin/env python3
"""Applies the problem matchers of the extension to the output of a command, as editors do.

    python3 tests/editor_extension/matchers.py PACKAGE.json < OUTPUT

Prints severity, file, line, column and message of each problem, with the name of the matcher first."""

import json
import re
import sys


def problems(matcher, lines):
    patterns = matcher["pattern"]
    patterns = patterns if isinstance(patterns, list) else [patterns]
    for at in range(len(lines)):
        fields = {"severity": matcher.get("severity", "error")}
        for pattern, line in zip(patterns, lines[at:]):
            found = re.search(pattern["regexp"], line)
            if not found:
                break
            groups = {key: found.group(n) for key, n in pattern.items() if key != "regexp"}
            fields.update({key: text for key, text in groups.items() if text is not None})
        else:
            if at + len(patterns) <= len(lines):
                yield fields


with open(sys.argv[1], encoding="utf-8") as file:
    matchers = json.load(file)["contributes"]["problemMatchers"]
output = sys.stdin.read().splitlines()
for each in matchers:
    for found in problems(each, output):
        keys = ("severity", "file", "line", "column", "message")
        print("\t".join([each["name"], *(found.get(key, "") for key in keys)]))
