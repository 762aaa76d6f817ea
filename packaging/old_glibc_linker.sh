#!/usr/bin/env bash
# A linker for cargo: links for an older version of glibc than this system's, with zig, which has the
# declarations of all versions. The version is in OLD_GLIBC, such as 2.28. ZIG names the program, if
# it is not `zig` or the Python package ziglang.
set -euo pipefail
version=${OLD_GLIBC:?set OLD_GLIBC to a version, such as 2.28}
if [[ -n ${ZIG:-} ]]; then
  zig=("$ZIG")
elif command -v zig > /dev/null; then
  zig=(zig)
else
  zig=(python3 -m ziglang)
fi
arguments=()
for argument in "$@"; do
  case $argument in
    # Its own start files and libraries are those of the version.
    --target=* | -no-pie) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec "${zig[@]}" cc -target "$(uname -m)-linux-gnu.$version" "${arguments[@]}"
