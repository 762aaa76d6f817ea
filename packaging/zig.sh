#!/usr/bin/env bash
# Runs zig, whose C compiler has the headers and libraries of other systems: the program that ZIG
# names, or `zig`, or the Python package ziglang.
set -euo pipefail
if [[ -n ${ZIG:-} ]]; then
  exec "$ZIG" "$@"
elif command -v zig > /dev/null; then
  exec zig "$@"
else
  exec python3 -m ziglang "$@"
fi
