#!/usr/bin/env bash
# Makes the packages of an example for Linux, and plays each as a player has it: unpacked in a root
# folder with nothing but the C library, and in a window.
#
#   packaging/check_packages.sh [--engine ENGINE] [STEP...]
#
# The steps, all if none is named:
#   equal     two runs write equal packages
#   metadata  the entry for menus, the metadata for software centres and the fields of the .deb
#             (desktop-file-validate, appstreamcli, dpkg-deb; lintian if it is there)
#   archive   the tar.gz, played in a root folder with the libraries that the engine links and
#             nothing else, as a user without rights (needs the rights to call unshare)
#   deb       the .deb in the same way
#   appimage  the image of the AppImage, read back by unsquashfs: it has the program of the tar.gz,
#             and valid metadata. A runtime is not needed: headers stand for it
#   window    the program of the tar.gz, started from an empty folder with no environment but a
#             display that nobody sees: it opens a window and ends when it is asked to (Xvfb,
#             xdotool)
#
# The engine is target/debug/engine, if none is named. It is packed without its symbols.
set -euo pipefail

engine=
steps=()
while (($# > 0)); do
  case $1 in
    --engine) engine=$(realpath -- "${2:?name an engine after --engine}"); shift 2 ;;
    -*) echo "usage: $0 [--engine ENGINE] [STEP...]" >&2; exit 2 ;;
    *) steps+=("$1"); shift ;;
  esac
done
if ((${#steps[@]} == 0)); then
  steps=(equal metadata archive deb appimage window)
fi
# After the options: they name files in the folder of the caller.
cd "$(dirname "$0")/.."
engine=$(realpath -- "${engine:-target/debug/engine}")
[[ -f $engine ]] || { echo "there is no engine at $engine" >&2; exit 2; }

scratch=$(mktemp -d)
started=()
finish() {
  local process
  for process in ${started[@]+"${started[@]}"}; do kill "$process" 2> /dev/null || true; done
  rm -rf "$scratch"
}
trap finish EXIT
export ENGINE_SAVE_DIR=$scratch/saves
unset DISPLAY WAYLAND_DISPLAY
frames=300

failed=()
skipped=()
step=
passed() { echo "ok     $step: $1"; }
wrong() {
  echo "FAILED $step: $1" >&2
  failed+=("$step")
}
skip() {
  echo "SKIPPED $step: $1" >&2
  skipped+=("$step")
}

# Writes the packages of an example into a folder.
make_packages() {
  "$scratch/engine" package "$scratch/game" --platform linux --engine "$scratch/engine" \
    --appimage-runtime "$scratch/runtime" --skip-check --out "$1" > "$scratch/log" 2>&1
}

prepare() {
  strip -o "$scratch/engine" "$engine"
  mkdir -p "$scratch/game"
  tar -C examples/arcade --exclude=./.engine -cf - . | tar -C "$scratch/game" -xf -
  python3 - "$scratch/game/own_icon.png" << 'END'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
header = struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)
rows = zlib.compress(b"".join(b"\0" + bytes([255, 128, 0]) * 256 for _ in range(256)))
with open(sys.argv[1], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
END
  cat >> "$scratch/game/settings.sjson" << 'END'
package = {
  title = "Glimmer & Gloom"
  id = "com.example.Glimmer"
  file_name = "glimmer"
  author = "Somebody"
  email = "somebody@example.com"
  website = "https://example.com"
  summary = "Collect the lights"
  description = "A game about lights, in a cave."
  icon = "own_icon.png"
  license = "MIT"
  categories = ["arcade"]
  languages = ["en"]
}
END
  # The headers of a runtime: an ELF file of 120 bytes with one segment, and the mark of AppImages.
  python3 - "$scratch/runtime" "$(uname -m)" << 'END'
import struct, sys
machine = {"x86_64": 62, "aarch64": 183}[sys.argv[2]]
head = b"\x7fELF\2\1\0\0AI\2".ljust(16, b"\0")
head += struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 120, 120, 4096)
with open(sys.argv[1], "wb") as file:
    file.write(head + segment)
END
  if ! make_packages "$scratch/packages"; then
    cat "$scratch/log" >&2
    exit 1
  fi
  grep -v '^note: \|variants' "$scratch/log" | sed "s|$scratch/||"
  mkdir "$scratch/archive" "$scratch/deb"
  tar -C "$scratch/archive" -xzf "$scratch"/packages/*.tar.gz
  if command -v dpkg-deb > /dev/null; then
    dpkg-deb --extract "$scratch"/packages/*.deb "$scratch/deb"
  fi
}

check_equal() {
  if make_packages "$scratch/again" && diff -r "$scratch/packages" "$scratch/again" > "$scratch/log"; then
    passed "$(ls "$scratch/packages" | tr '\n' ' ')"
  else
    wrong "$(tail -n 5 "$scratch/log")"
  fi
}

# Runs a check of a file by another program, or says that the program is missing.
validate() {
  if ! command -v "$1" > /dev/null; then
    skip "$1 is missing"
  elif "$@" > "$scratch/log" 2>&1; then
    passed "$*"
  else
    wrong "$*: $(cat "$scratch/log")"
  fi
}

check_metadata() {
  local share
  for share in "$scratch"/archive/*/share "$scratch/deb/usr/share"; do
    [[ -d $share ]] || { skip "dpkg-deb is missing"; continue; }
    validate desktop-file-validate "$share/applications/com.example.Glimmer.desktop"
    validate appstreamcli validate --no-net "$share/metainfo/com.example.Glimmer.metainfo.xml"
  done
  if command -v dpkg-deb > /dev/null; then
    local field wanted
    while read -r field wanted; do
      local found
      found=$(dpkg-deb --field "$scratch"/packages/*.deb "$field")
      if [[ $found == "$wanted" ]]; then passed "$field: $found"; else wrong "$field: $found"; fi
    done << END
Package glimmer-game
Version 1.0.0
Architecture $(dpkg --print-architecture)
Maintainer Somebody <somebody@example.com>
END
  fi
  # Games are no part of the distribution: they have neither its changelog nor manual pages.
  validate lintian --fail-on error --suppress-tags \
    no-changelog,no-manual-page,changelog-file-missing-in-native-package \
    "$scratch"/packages/*.deb
}

# Plays a packaged game in a root folder with the engine, the game, and the libraries that the engine
# links.
play_alone() {
  local game=$1 root=$scratch/root_$step library code=0
  if ((EUID != 0)) || ! unshare --pid --fork true 2> /dev/null; then
    skip "it needs the rights of root, and to call unshare"
    return
  fi
  mkdir -p "$root/proc" "$root/tmp" "$root/game"
  while read -r library; do
    install -D -m 755 "$library" "$root$library"
  done < <(ldd "$game" | grep -o '/[^ ]*')
  cp "$scratch/engine" "$root/engine"
  cp "$game" "$root/game/glimmer"
  install -d -o 65534 -g 65534 "$root/saves"
  env -i ENGINE_SAVE_DIR=/saves PATH="$PATH" timeout --kill-after=10 300 \
    unshare --kill-child --pid --fork --mount --mount-proc="$root/proc" \
    chroot --userspec=65534:65534 "$root" /engine run /game/glimmer --headless --frames "$frames" \
    > "$scratch/log" 2>&1 || code=$?
  if ((code == 0)); then
    passed "$(tail -n 1 "$scratch/log"), with $(find "$root" -name '*.so*' | wc -l) libraries"
  else
    wrong "exit code $code: $(tail -n 5 "$scratch/log")"
  fi
}

check_archive() { play_alone "$(echo "$scratch"/archive/*/glimmer)"; }

check_deb() {
  if [[ -f $scratch/deb/usr/games/glimmer-game ]]; then
    play_alone "$scratch/deb/usr/games/glimmer-game"
  else
    skip "dpkg-deb is missing"
  fi
}

check_appimage() {
  local image=$scratch/image link
  if ! command -v unsquashfs > /dev/null; then
    skip "unsquashfs is missing"
    return
  fi
  if ! unsquashfs -offset 120 -dest "$image" "$scratch"/packages/*.AppImage > "$scratch/log" 2>&1; then
    wrong "$(tail -n 5 "$scratch/log")"
    return
  fi
  for link in AppRun .DirIcon com.example.Glimmer.desktop com.example.Glimmer.png; do
    [[ -f $(realpath -- "$image/$link") ]] || wrong "$link leads nowhere"
  done
  if [[ -x $image/AppRun ]] && cmp -s "$image/AppRun" "$scratch"/archive/*/glimmer; then
    passed "AppRun is the program of the archive, with $(find "$image" -type f | wc -l) files"
  else
    wrong "AppRun is not the program of the archive"
  fi
  validate desktop-file-validate "$(realpath -- "$image/com.example.Glimmer.desktop")"
  validate appstreamcli validate --no-net \
    "$image/usr/share/metainfo/com.example.Glimmer.metainfo.xml"
  play_alone "$(realpath -- "$image/AppRun")"
}

check_window() {
  local tool number run waited window='' code=0
  for tool in Xvfb xdotool; do
    command -v "$tool" > /dev/null || { skip "$tool is missing"; return; }
  done
  mkfifo "$scratch/display"
  Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp > "$scratch/display" 2> /dev/null &
  started+=($!)
  read -r number < "$scratch/display"
  mkdir "$scratch/empty"
  (cd "$scratch/empty" && exec env -i DISPLAY=":$number" HOME="$scratch/empty" \
    timeout --kill-after=10 300 "$(echo "$scratch"/archive/*/glimmer)") > "$scratch/log" 2>&1 &
  run=$!
  started+=("$run")
  for waited in $(seq 300); do
    window=$(DISPLAY=:$number xdotool search --onlyvisible --name Glimmer 2> /dev/null | head -n 1) ||
      true
    [[ -n $window ]] && break
    kill -0 "$run" 2> /dev/null || break
    sleep 0.2
  done
  kill -TERM "$run" 2> /dev/null || true
  wait "$run" || code=$?
  # `timeout` exits with 143 when it was asked to end itself.
  if [[ -n $window ]] && ((code == 0 || code == 143)); then
    passed "a window with the title of the game"
  else
    wrong "window '$window', exit code $code: $(tail -n 5 "$scratch/log")"
  fi
}

prepare
for step in "${steps[@]}"; do
  case $step in
    equal | metadata | archive | deb | appimage | window) "check_$step" ;;
    *) echo "there is no step '$step'" >&2; exit 2 ;;
  esac
done
if ((${#failed[@]} > 0)); then
  echo "failed: $(printf '%s\n' "${failed[@]}" | sort -u | tr '\n' ' ')" >&2
  exit 1
fi
if ((${#skipped[@]} > 0)); then
  echo "passed, but for parts that were skipped in: $(printf '%s\n' "${skipped[@]}" | sort -u | tr '\n' ' ')"
else
  echo "all steps passed"
fi
