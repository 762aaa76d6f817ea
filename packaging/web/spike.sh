#!/usr/bin/env bash
# Compiles PUC Lua 5.1 with the replacements of spike.c to WebAssembly and runs the spike of
# README.md under Node. Nothing else of the engine is compiled.
#
#   packaging/web/spike.sh [--engine FILE] [--list]
#
# --engine also times the workloads with an engine. --list prints each line of Lua that needs
# LuaJIT, and each test that fails. It needs:
#   LUA_SOURCE  the folder `lua-5.1.5` of the crate lua-src, with C sources that compile for WASI:
#               Lua's own use functions that WASI lacks
#   ZIG         the command of zig, `zig` if it is not set; for example `python3 -m ziglang`. Tried
#               with 0.17
#   node        version 20 or later
set -euo pipefail

usage() {
  echo "usage: $0 [--engine FILE] [--list]" >&2
  exit 2
}

options=()
while (($# > 0)); do
  case $1 in
    --engine)
      (($# > 1)) || usage
      [[ -x $2 ]] || { echo "$0: $2 is not an executable file" >&2; exit 2; }
      options+=(--engine "$(realpath "$2")")
      shift
      ;;
    --list) options+=(--list) ;;
    *) usage ;;
  esac
  shift
done

need() {
  echo "$0: $1" >&2
  exit 2
}

[[ -n ${LUA_SOURCE:-} ]] || need "set LUA_SOURCE to the folder lua-5.1.5 of the crate lua-src"
grep -qs '"Lua 5\.1' "$LUA_SOURCE/lua.h" || need "there is no lua.h of Lua 5.1 in $LUA_SOURCE"
read -ra zig <<< "${ZIG:-zig}"
"${zig[@]}" version > /dev/null 2>&1 ||
  need "'${zig[*]}' does not run: install zig, or set ZIG to its command"
command -v node > /dev/null || need "install Node 20 or later"
(($(node --print 'process.versions.node.split(".")[0]') >= 20)) ||
  need "Node $(node --version) is too old: install Node 20 or later"

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

sources=()
for file in "$LUA_SOURCE"/l*.c; do
  # The program and the compiler of Lua have a main function of their own.
  case ${file##*/} in lua.c | luac.c) ;; *) sources+=("$file") ;; esac
done
common=(-O2 -s -w -I "$LUA_SOURCE" "${sources[@]}" "$here/spike.c")
# Lua's errors are longjmp, which becomes an exception of WebAssembly.
"${zig[@]}" cc -target wasm32-wasi -mcpu=generic+exception_handling -mllvm -wasm-enable-sjlj \
  -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS "${common[@]}" \
  -lwasi-emulated-signal -lwasi-emulated-process-clocks -o "$scratch/lua.wasm"
"${zig[@]}" cc "${common[@]}" -lm -o "$scratch/lua"

node --no-warnings "$here/spike.mjs" "$scratch/lua.wasm" "$root" "$scratch" \
  --native "$scratch/lua" ${options[@]+"${options[@]}"}
