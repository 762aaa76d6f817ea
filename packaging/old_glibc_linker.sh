#!/usr/bin/env bash
# A linker for cargo: links for an older version of glibc than this system's, with zig, which has the
# declarations of all versions (packaging/zig.sh). The version is in OLD_GLIBC, such as 2.28.
#
# Programs of the profile dist are to be small, and zig's compiler passes none of lld's options for
# that on. An optimised program, for which rustc asks to strip its symbols, is therefore linked
# again, by the same lld with the same arguments and these options: equal functions become one
# function, and similar ones become neighbours, which archives compress better. The second option
# needs lld 20, which zig has since version 0.15. If the second link is not possible, a note says so,
# and the program is that of the first. With LINK_MAP, lld writes the places and sizes of all parts of
# the program to this file.
set -euo pipefail
version=${OLD_GLIBC:?set OLD_GLIBC to a version, such as 2.28}
zig=$(dirname "$0")/zig.sh
small=false
out=a.out
arguments=()
previous=
for argument in "$@"; do
  if [[ $previous == -o ]]; then out=$argument; fi
  previous=$argument
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
trap 'rm -f "$log" "$out.small"' EXIT
if ! "$zig" "${link[@]}" --verbose 2> "$log"; then
  cat "$log" >&2
  exit 1
fi
# The commands and versions that --verbose writes are not shown, the findings of the linker are.
grep -E '(^|[: ])(warning|error|note)(\([a-z_]+\))?: |^>>> ' "$log" >&2 || true

keep_first() {
  echo "note: the program is larger than it could be: $1" >&2
  exit 0
}
# The last command in the log is that of the program. It has no quotes around its words: a path with
# a space becomes an input that does not exist, and the second link fails.
read -r -a lld <<< "$(grep '^ld\.lld ' "$log" | tail -n 1)" || true
if ((${#lld[@]} == 0)); then keep_first "zig does not say how it links"; fi
has_output=false
for ((at = 0; at + 1 < ${#lld[@]}; at++)); do
  if [[ ${lld[at]} == -o ]]; then
    lld[at + 1]=$out.small
    has_output=true
  fi
done
if ! $has_output; then keep_first "the linker's command has no output"; fi
options=(--icf=all --bp-compression-sort=both)
if [[ -n ${LINK_MAP:-} ]]; then options+=("--Map=$LINK_MAP"); fi
if ! "$zig" "${lld[@]}" "${options[@]}" 2> "$log"; then
  keep_first "the second link failed: $(head -n 1 "$log")"
fi
cat "$log" >&2
mv -f -- "$out.small" "$out"
