#!/usr/bin/env python3
"""Joins programs for different processors into one universal binary for macOS, as `lipo` does.

    packaging/macos/universal.py PROGRAM... --out FILE

Format: mach-o/fat.h of Apple's open sources. Each program begins at a page of 16 KiB, which the
processors of Apple need.
"""

import argparse
import struct
import sys

MAGIC_64 = 0xFEEDFACF  # a program of 64 bits, in the byte order of these processors
FAT_MAGIC = 0xCAFEBABE
PAGE_BITS = 14


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    entries, body, processors = [], b"", set()
    page = 1 << PAGE_BITS
    start = page
    for name in arguments.programs:
        with open(name, "rb") as file:
            program = file.read()
        if len(program) < 32 or struct.unpack_from("<I", program)[0] != MAGIC_64:
            sys.exit(f"error: {name} is no program for one processor of macOS")
        processor, variant = struct.unpack_from("<II", program, 4)
        if processor in processors:
            sys.exit(f"error: {name} is for the same processor as a program before it")
        processors.add(processor)
        at = start + len(body)
        entries.append(struct.pack(">IIIII", processor, variant, at, len(program), PAGE_BITS))
        body += program + b"\0" * (-len(program) % page)
    header = struct.pack(">II", FAT_MAGIC, len(entries)) + b"".join(entries)
    if start + len(body) > 0xFFFFFFFF:
        sys.exit("error: the file would be larger than 4 GiB")
    with open(arguments.out, "wb") as file:
        file.write(header + b"\0" * (start - len(header)) + body)


if __name__ == "__main__":
    main()
