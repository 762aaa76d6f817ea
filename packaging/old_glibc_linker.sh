#!/usr/bin/env bash
# A linker for cargo: links for an older version of glibc than this system's, with zig, which has the
# declarations of all versions (packaging/zig.sh). The version is in OLD_GLIBC, such as 2.28.
#
# Programs of the profile dist are to be small, and zig's compiler passes none of lld's options for
# that on. An optimised program, for which rustc asks to strip its symbols, is therefore linked
# again, by the same lld with the same arguments and these options: equal functions become one
# function, and similar ones become neighbours, which archives compress better.
set -euo pipefail
version=${OLD_GLIBC:?set OLD_GLIBC to a version, such as 2.28}
zig=$(dirname "$0")/zig.sh
small=false
arguments=()
for argument in "$@"; do
  case $argument in
    # Its own start files and libraries are those of the version.
    --target=* | -no-pie) ;;
    -Wl,--strip-all) small=true && arguments+=("$argument") ;;
    *) arguments+=("$argument") ;;
  esac
done
link=(cc -target "$(uname -m)-linux-gnu.$version" "${arguments[@]}")
if ! $small; then exec "$zig" "${link[@]}"; fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "$zig" "${link[@]}" --verbose 2> "$log"; then
  cat "$log" >&2
  exit 1
fi
# The last command in the log is that of the program. It has no quotes around its words.
read -r -a lld <<< "$(grep '^ld\.lld ' "$log" | tail -n 1)"
for word in "${lld[@]}"; do
  if [[ $word == /* && ! -e $word ]]; then
    echo "note: a path with a space: the program is larger than it could be: $word" >&2
    exit 0
  fi
done
"$zig" "${lld[@]}" --icf=all --bp-compression-sort=both
