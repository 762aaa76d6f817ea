#!/usr/bin/env bash
# A C compiler for macOS on another system, for cargo: zig has the headers of macOS's C library
# (packaging/zig.sh). MACOSX_DEPLOYMENT_TARGET is the oldest version of macOS, 11.0 if not set.
set -euo pipefail
processor=
arguments=()
while (($# > 0)); do
  case $1 in
    # Zig has names of its own for targets.
    -arch) processor=${2:?name a processor after -arch} && shift ;;
    --target=*)
      processor=${1#--target=}
      processor=${processor%%-*}
      ;;
    -isysroot) shift ;;
    -mmacosx-version-min=* | -mmacos-version-min=*) ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
case ${processor:?no -arch and no --target} in
  arm64) processor=aarch64 ;;
esac
version=${MACOSX_DEPLOYMENT_TARGET:-11.0}
exec "$(dirname "$0")/../zig.sh" cc -target "$processor-macos.$version" "${arguments[@]}"
