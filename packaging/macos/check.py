#!/usr/bin/env python3
"""Checks a program for macOS where it cannot run: what it needs of the system, and its signature.

    packaging/macos/check.py PROGRAM...

Prints for each processor the oldest version of macOS and the libraries. Fails if a library is not one
of the system, if the program does not start at a function of its own, if a program for processors of
Apple has no signature, or if a page differs from its hash in the signature.

Formats: mach-o/loader.h, mach-o/fat.h and the code directory of cs_blobs.h in Apple's open sources.
"""

import hashlib
import struct
import sys

FAT_MAGIC, MAGIC_64 = 0xCAFEBABE, 0xFEEDFACF
PROCESSORS = {0x01000007: "x86_64", 0x0100000C: "arm64"}
EXECUTABLE = 2
LOAD_DYLIB, LOAD_WEAK_DYLIB = 0x0C, 0x80000018
CODE_SIGNATURE, MAIN, BUILD_VERSION, VERSION_MIN_MACOS = 0x1D, 0x80000028, 0x32, 0x24
SIGNATURES, CODE_DIRECTORY, SHA_256 = 0xFADE0CC0, 0xFADE0C02, 2
SYSTEM_FOLDERS = ("/System/Library/", "/usr/lib/")


def version(number):
    return f"{number >> 16}.{number >> 8 & 255}"


def programs(data):
    """Returns the programs of a file: a universal binary has several."""
    if struct.unpack_from(">I", data)[0] != FAT_MAGIC:
        return [data]
    count = struct.unpack_from(">I", data, 4)[0]
    entries = [struct.unpack_from(">IIIII", data, 8 + 20 * at) for at in range(count)]
    for _, _, start, _, bits in entries:
        assert start % (1 << bits) == 0, "a program does not begin at a page"
    return [data[start : start + size] for _, _, start, size, _ in entries]


def commands(program):
    count = struct.unpack_from("<I", program, 16)[0]
    at = 32
    for _ in range(count):
        kind, size = struct.unpack_from("<II", program, at)
        yield kind, program[at : at + size]
        at += size


def check_signature(program, start, size):
    """Compares the pages of a program with the hashes in its signature. Returns their count."""
    magic, _, count = struct.unpack_from(">III", program, start)
    assert magic == SIGNATURES, "the signature has another format"
    assert start + size == len(program), "there is data behind the signature"
    for at in range(count):
        _, offset = struct.unpack_from(">II", program, start + 12 + 8 * at)
        directory = program[start + offset : start + size]
        if struct.unpack_from(">I", directory)[0] != CODE_DIRECTORY:
            continue
        hashes, _, _, pages, limit = struct.unpack_from(">IIIII", directory, 16)
        width, kind, _, page_bits = directory[36:40]
        assert kind == SHA_256 and width == 32, "the hashes are not SHA-256"
        assert limit == start, "the signature does not cover the program"
        page = 1 << page_bits
        for number in range(pages):
            content = program[number * page : min((number + 1) * page, limit)]
            wanted = directory[hashes + 32 * number : hashes + 32 * (number + 1)]
            assert hashlib.sha256(content).digest() == wanted, f"page {number} was changed"
        assert pages == -(-limit // page), "the signature lacks pages"
        return pages
    raise AssertionError("the signature has no hashes")


def check(program):
    magic, processor, _, kind = struct.unpack_from("<IIII", program)
    assert magic == MAGIC_64 and kind == EXECUTABLE, "it is no program"
    name = PROCESSORS.get(processor)
    assert name, f"it is for an unknown processor, {processor:#x}"
    libraries, oldest, signed, starts = [], "unknown", None, False
    for kind, command in commands(program):
        if kind in (LOAD_DYLIB, LOAD_WEAK_DYLIB):
            path = command[struct.unpack_from("<I", command, 8)[0] :].split(b"\0")[0].decode()
            assert path.startswith(SYSTEM_FOLDERS), f"it needs {path}"
            libraries.append(path.split("/")[-1] + ("?" if kind == LOAD_WEAK_DYLIB else ""))
        elif kind == MAIN:
            starts = 0 < struct.unpack_from("<Q", command, 8)[0] < len(program)
        elif kind == CODE_SIGNATURE:
            signed = check_signature(program, *struct.unpack_from("<II", command, 8))
        elif kind == BUILD_VERSION:
            oldest = version(struct.unpack_from("<I", command, 12)[0])
        elif kind == VERSION_MIN_MACOS:
            oldest = version(struct.unpack_from("<I", command, 8)[0])
    assert starts, "it has no first function"
    assert signed is not None or name != "arm64", "it has no signature, without which macOS refuses it"
    pages = f"{signed} signed pages" if signed is not None else "not signed"
    return f"{name}: macOS {oldest} or newer, {pages}, needs {' '.join(sorted(libraries))}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    failed = False
    for path in sys.argv[1:]:
        try:
            with open(path, "rb") as file:
                for program in programs(file.read()):
                    print(f"{path}: {check(program)}")
        except (AssertionError, struct.error) as problem:
            print(f"error: {path}: {problem}", file=sys.stderr)
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
