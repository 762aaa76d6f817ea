#!/usr/bin/env bash
# Makes the engine for servers: an executable without windows, graphics and sound devices, from
# which `engine package --server` makes packages. It plays bundles and has no other commands: neither
# compilers of resources nor the tools, tests and manual of development are linked.
#
#   packaging/server.sh [--development] [--glibc VERSION] [--engine FILE] [TARGET]
#   packaging/server.sh --check [TARGET]
#
# TARGET is a target of rustc, this machine's if left out. The result is
# target/distribution/engine-server-linux or engine-server-windows.exe. With --development, it is
# engine-headless-linux or engine-headless-windows.exe: all commands, for machines that test and
# compile games and have no display. With --glibc, it is linked for this version of the C library,
# such as 2.28 (packaging/old_glibc_linker.sh); an executable that needs a newer one is refused. With
# --engine, nothing is built: FILE is examined and copied. All of them fail if parts are linked that
# servers do not have, and if an engine with all commands would get the name of one without them.
#
# --check compiles the code of both without linking it, and fails at a warning. It shares
# nothing with other builds: the first run takes as long as a first build, later ones a minute.
set -euo pipefail

usage() {
  echo "usage: $0 [--development] [--glibc VERSION] [--engine FILE] [TARGET]" >&2
  echo "       $0 --check [TARGET]" >&2
  exit 2
}

engine=
check=false
development=false
others=()
while [[ ${1:-} == -* ]]; do
  case $1 in
    --check) check=true; shift; continue ;;
    --development) development=true; others+=("$1"); shift; continue ;;
    --engine) engine=$(realpath -- "${2:?name a file after --engine}"); others+=("$1") ;;
    --glibc) export OLD_GLIBC=${2:?name a version after --glibc}; others+=("$1") ;;
    *) usage ;;
  esac
  shift 2
done
# The check is for both engines, and links nothing.
if $check && ((${#others[@]} > 0)); then usage; fi
if (($# > 1)); then
  echo "name one target" >&2
  exit 2
fi
# After the options: they name files in the folder of the caller.
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
# Only the executable has other features than a build for players: it gets a folder of its own, so
# that neither replaces the other.
build=(--no-default-features --bin engine --target "$target" --target-dir target/server)

if $check; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  {
    cargo check "${build[@]}"
    cargo check "${build[@]}" --features development
  } 2>&1 | tee "$log"
  if grep -q '^warning' "$log"; then
    echo "the code for servers has warnings" >&2
    exit 1
  fi
  echo "the code for servers compiles without warnings"
  exit 0
fi

purpose=server
if $development; then
  purpose=headless
  build+=(--features development)
fi
case $target in
  *windows*) name=engine-$purpose-windows.exe ending=.exe start=MZ ;;
  *linux*) name=engine-$purpose-linux ending='' start=$'\x7fELF' ;;
  *) echo "there are no engines for servers for $target" >&2; exit 2 ;;
esac
if [[ -z $engine ]]; then
  if [[ -n ${OLD_GLIBC:-} ]]; then
    variable=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$target")_LINKER
    export "$variable=$PWD/packaging/old_glibc_linker.sh"
  fi
  cargo build --profile dist "${build[@]}"
  engine=target/server/$target/dist/engine$ending
fi

if [[ ! -f $engine ]]; then
  echo "there is no engine at $engine" >&2
  exit 1
fi
if [[ $(head -c ${#start} "$engine" | tr -d '\0') != "$start" ]]; then
  echo "$engine is no executable for $target" >&2
  exit 1
fi

# Texts of libraries that no server has. Libraries of the system are opened by their names.
failed=false
for text in vkCreateInstance libwayland-client.so libX11-xcb.so libasound.so IAudioClient D3D12CreateDevice; do
  if grep -q -a -F "$text" "$engine"; then
    echo "$engine: '$text' is in it: a library of windows, graphics or sound is linked" >&2
    failed=true
  fi
done
if ! grep -q -a -F 'engine executable for servers;' "$engine"; then
  echo "$engine: the mark of engines for servers is missing" >&2
  failed=true
fi
only_plays_bundles=false
if grep -q -a -F 'engine executable for bundles;' "$engine"; then only_plays_bundles=true; fi
if $only_plays_bundles && $development; then
  echo "$engine only plays bundles: leave out --development, or name an engine with all commands" >&2
  failed=true
elif ! $only_plays_bundles && ! $development; then
  echo "$engine has all commands: give --development, or name an engine that only plays bundles" >&2
  failed=true
fi
if $failed; then exit 1; fi

glibc=
if [[ $target == *linux* ]]; then
  glibc=$(objdump -T "$engine" | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t. -k2 -n | tail -n 1)
  glibc=${glibc#GLIBC_}
  newest=$(printf '%s\n' "$glibc" "${OLD_GLIBC:-$glibc}" | sort -V | tail -n 1)
  if [[ $newest != "${OLD_GLIBC:-$glibc}" ]]; then
    echo "$engine needs glibc $glibc, and $OLD_GLIBC was asked for" >&2
    exit 1
  fi
fi

mkdir -p target/distribution
cp "$engine" "target/distribution/$name"
chmod 755 "target/distribution/$name"
echo "target/distribution/$name: $(wc -c < "$engine") bytes"
if [[ -n $glibc ]]; then echo "it needs glibc $glibc or newer"; fi
