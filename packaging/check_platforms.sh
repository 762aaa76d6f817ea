#!/usr/bin/env bash
# Compiles the whole tree for other platforms, without linking, and fails if there is an error or a
# warning in it. For each target that is not installed, it says how to install it.
#
#   packaging/check_platforms.sh [--installed] [TARGET...]
#
# The targets are those of Windows and macOS, if none is named. With --installed, targets that are
# not installed are no failure. The C code for Windows needs the compiler of mingw-w64. For macOS,
# this machine's compiler stands in: nothing is linked (packaging/macos/stand_in_compiler.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

installed_only=false
targets=()
for argument in "$@"; do
  case $argument in
    --installed) installed_only=true ;;
    -*)
      echo "usage: $0 [--installed] [TARGET...]" >&2
      exit 2
      ;;
    *) targets+=("$argument") ;;
  esac
done
if ((${#targets[@]} == 0)); then
  targets=(x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin)
fi

# Returns the reason why a target cannot be checked; empty if it can.
missing() {
  local target=$1
  if ! rustup target list --installed | grep -qx "$target"; then
    echo "run \`rustup target add $target\`"
    return
  fi
  local variable=CC_${target//-/_}
  if [[ -n ${!variable:-} ]]; then return; fi
  case $target in
    *-windows-gnu)
      command -v "${target%%-*}-w64-mingw32-gcc" >/dev/null ||
        echo "install the package gcc-mingw-w64-${target%%-*}"
      ;;
  esac
}

failed=0
for target in "${targets[@]}"; do
  reason=$(missing "$target")
  if [[ -n $reason ]]; then
    echo "$target: SKIPPED: $reason" >&2
    if ! $installed_only; then failed=1; fi
    continue
  fi
  log=$(mktemp)
  variables=()
  if [[ $target == *-darwin && $(uname) != Darwin ]]; then
    stand_in=$PWD/packaging/macos/stand_in_compiler.sh
    variables=("CC_${target//-/_}=$stand_in" "SDKROOT=$PWD/packaging/macos")
  fi
  # Dependencies have no warnings of their own: cargo hides them.
  if ! env "${variables[@]}" cargo check --workspace --target "$target" 2>&1 | tee "$log"; then
    echo "$target: does not compile" >&2
    failed=1
  elif grep -q '^warning' "$log"; then
    echo "$target: has warnings" >&2
    failed=1
  else
    echo "$target: compiles without warnings"
  fi
  rm -f "$log"
done
exit "$failed"
