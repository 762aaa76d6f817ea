#!/usr/bin/env python3
"""Applies a TextMate grammar to a text, as editors do.

    python3 tests/editor_extension/grammar.py GRAMMAR.json < TEXT

Prints the innermost scope and the text of each part, one a line. Only the parts of the format that
our grammar uses are implemented: match, begin, end, captures of the whole match, and includes of the
repository. Anything else in a grammar is an error, so that it cannot be ignored here."""

import json
import re
import sys

KNOWN = {"name", "match", "begin", "end", "beginCaptures", "endCaptures", "patterns", "include"}


class Grammar:
    def __init__(self, tree):
        self.tree, self.cache = tree, {}

    def regex(self, text):
        if text not in self.cache:
            self.cache[text] = re.compile(text)
        return self.cache[text]

    def rules(self, patterns):
        """Yields the rules of a list, with those of included lists."""
        for rule in patterns:
            unknown = set(rule) - KNOWN
            if unknown:
                sys.exit(f"the grammar has {unknown}, which is not implemented here")
            if "include" in rule:
                yield from self.rules([self.tree["repository"][rule["include"].removeprefix("#")]])
            elif "match" in rule or "begin" in rule:
                yield rule
            else:
                yield from self.rules(rule["patterns"])


def captured(rule, key):
    return rule.get(key, {}).get("0", {}).get("name", rule.get("name"))


def parts(grammar, lines):
    """Yields scope and text of each part."""
    stack = []
    for line in lines:
        at = 0
        while at <= len(line):
            rule = stack[-1] if stack else None
            patterns = rule.get("patterns", []) if rule else grammar.tree["patterns"]
            best = None
            if rule:
                found = grammar.regex(rule["end"]).search(line, at)
                best = found and (found.start(), found, None)
            for candidate in grammar.rules(patterns):
                source = candidate.get("match") or candidate["begin"]
                found = grammar.regex(source).search(line, at)
                if found and (best is None or found.start() < best[0]):
                    best = (found.start(), found, candidate)
            scope = rule.get("name") if rule else None
            end_of_text = best[0] if best else len(line)
            if line[at:end_of_text].strip():
                yield scope, line[at:end_of_text].strip()
            if best is None:
                break
            _, found, candidate = best
            if candidate is None:
                stack.pop()
                if found.group().strip():
                    yield captured(rule, "endCaptures"), found.group()
            elif "begin" in candidate:
                stack.append(candidate)
                yield captured(candidate, "beginCaptures"), found.group()
            else:
                yield candidate.get("name"), found.group()
            if found.end() == at and candidate is not None:
                sys.exit(f"a rule of the grammar matches nothing at {line[at:]!r}")
            at = found.end()
            if at == len(line) and not (stack and grammar.regex(stack[-1]["end"]).match(line, at)):
                break
    for rule in stack:
        yield "open", rule.get("name")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        grammar = Grammar(json.load(file))
    for scope, text in parts(grammar, sys.stdin.read().splitlines()):
        print(f"{scope or 'none'}\t{text}")


main()
