#!/usr/bin/env bash
# A linker for cargo: links for an older version of glibc than this system's, with zig, which has the
# declarations of all versions (packaging/zig.sh). The version is in OLD_GLIBC, such as 2.28.
set -euo pipefail
version=${OLD_GLIBC:?set OLD_GLIBC to a version, such as 2.28}
arguments=()
for argument in "$@"; do
  case $argument in
    # Its own start files and libraries are those of the version.
    --target=* | -no-pie) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec "$(dirname "$0")/zig.sh" cc -target "$(uname -m)-linux-gnu.$version" "${arguments[@]}"
