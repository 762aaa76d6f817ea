#!/usr/bin/env bash
# Takes the place of a C compiler for macOS while the tree is checked and nothing is linked
# (packaging/check_platforms.sh): compiles for this machine, without the options that only a
# compiler for macOS has. The objects are never used.
set -euo pipefail
arguments=()
while (($# > 0)); do
  case $1 in
    -arch | -isysroot) shift ;;
    --target=* | -mmacosx-version-min=* | -mmacos-version-min=*) ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
exec "${CC:-cc}" "${arguments[@]}"
