#!/usr/bin/env python3
"""Writes the list of libraries in the engine (SBOM) in the CycloneDX format.

  packaging/sbom.py TARGET [OUT]

TARGET is a target of rustc, such as x86_64-unknown-linux-gnu. Two runs write the same bytes.
"""
import json
import sys
from pathlib import Path

from licenses import read_metadata, used_packages

# Libraries in C that crates compile from sources of their own.
EMBEDDED = {"luajit-src": "LuaJIT", "libmimalloc-sys": "mimalloc"}


def component(package):
    """Returns the entry of a package."""
    entry = {
        "type": "library",
        "bom-ref": f'pkg:cargo/{package["name"]}@{package["version"]}',
        "name": package["name"],
        "version": package["version"],
        "purl": f'pkg:cargo/{package["name"]}@{package["version"]}',
    }
    if package["license"]:
        # Old manifests separate alternatives by a slash.
        entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    if package["name"] in EMBEDDED:
        entry["description"] = f'contains the C library {EMBEDDED[package["name"]]}'
    return entry


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    metadata = read_metadata([sys.argv[1]])
    packages = sorted(used_packages(metadata), key=lambda it: (it["name"], it["version"]))
    root = next(it for it in metadata["packages"] if it["id"] == metadata["resolve"]["root"])
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f'engine@{root["version"]}',
                "name": root["name"],
                "version": root["version"],
                "properties": [{"name": "target", "value": sys.argv[1]}],
            }
        },
        "components": [component(package) for package in packages],
    }
    text = json.dumps(bom, indent=2, ensure_ascii=False) + "\n"
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
