#!/usr/bin/env bash
# A linker for cargo: links programs for macOS on another system, without Apple's SDK, by the linker
# that comes with Rust (flavor ld64.lld). The SDK describes the system's libraries in text files
# (.tbd), with the names of all functions. Here, they are written with the path of the library alone,
# and the program looks up its functions in all of its libraries when it starts ("flat namespace").
# A function that does not exist is therefore no error here, but one when the program starts.
set -euo pipefail

# Frameworks that macOS 11 lacks: the program also starts without them.
newer_frameworks=(AVFAudio Symbols)

stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT

# Describes a library: the file and the path of the library on macOS.
describe() {
  mkdir -p "$(dirname "$stubs/$1")"
  cat > "$stubs/$1" << END
--- !tapi-tbd
tbd-version: 4
targets: [ x86_64-macos, arm64-macos ]
install-name: '$2'
...
END
}

describe_framework() {
  local version=A
  case $1 in
    AppKit | Foundation) version=C ;;
  esac
  describe "$1.framework/$1.tbd" "/System/Library/Frameworks/$1.framework/Versions/$version/$1"
}

describe_library() {
  local path
  case $1 in
    # Parts of one library.
    System | c | m) path=/usr/lib/libSystem.B.dylib ;;
    objc) path=/usr/lib/libobjc.A.dylib ;;
    iconv) path=/usr/lib/libiconv.2.dylib ;;
    *) return 0 ;; # a library of the program; the linker reports one that is missing
  esac
  describe "lib$1.tbd" "$path"
}

arguments=()
while (($# > 0)); do
  case $1 in
    -framework)
      option=-framework
      if [[ " ${newer_frameworks[*]} " == *" $2 "* ]]; then option=-weak_framework; fi
      describe_framework "$2"
      arguments+=("$option" "$2")
      shift
      ;;
    -syslibroot) shift ;;
    -l*)
      describe_library "${1#-l}"
      arguments+=("$1")
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done

sysroot=$(rustc --print sysroot)
host=$(rustc -vV | sed -n 's/^host: //p')
# Rust's first options name the flavor.
"$sysroot/lib/rustlib/$host/bin/rust-lld" "${arguments[@]}" \
  -F "$stubs" -L "$stubs" -undefined dynamic_lookup
