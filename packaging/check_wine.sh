#!/usr/bin/env bash
# Plays games with an engine for Windows under wine, and compares them with an engine for this system.
#
#   packaging/check_wine.sh [--windows ENGINE.exe] [--linux ENGINE] [STEP...]
#
# The steps, all if none is named:
#   start       the version, and a new game from its template
#   template    the new game for 600 frames, with the hashes that Linux recorded
#   suites      the engine's own Lua suites, and those of the new game
#   recordings  the recorded sessions of all examples, with their hashes
#   frames      3,000 frames of each example, with the hashes that Linux records now
#   watchdog    a script that does not end is stopped, and named
#   reload      a saved script runs in the game that is played
#   package     a package with icon and version, started from an empty folder
#   sound       a sound reaches wine's sound device, which writes to a file here
#   msi         an installer: installs, replaces an older version, removes all but the player's files
#   window      a window on a display that nobody sees, with a key and a screenshot
#
# It needs wine, mingw-w64 (for one function that wine 8 lacks), and for the window Xvfb and xdotool.
# The engines are those of the profile dev, if none is named:
#
#   cargo build --target x86_64-pc-windows-gnu
set -euo pipefail
cd "$(dirname "$0")/.."

windows=target/x86_64-pc-windows-gnu/debug/engine.exe
linux=target/debug/engine
steps=()
while (($# > 0)); do
  case $1 in
    --windows) windows=${2:?name an engine after --windows}; shift 2 ;;
    --linux) linux=${2:?name an engine after --linux}; shift 2 ;;
    -*) echo "usage: $0 [--windows ENGINE.exe] [--linux ENGINE] [STEP...]" >&2; exit 2 ;;
    *) steps+=("$1"); shift ;;
  esac
done
if ((${#steps[@]} == 0)); then
  steps=(start template suites recordings frames watchdog reload package msi sound window)
fi
for engine in "$windows" "$linux"; do
  [[ -f $engine ]] || { echo "there is no engine at $engine" >&2; exit 2; }
done
windows=$(realpath "$windows")
linux=$(realpath "$linux")
root=$PWD
for tool in wine x86_64-w64-mingw32-gcc; do
  command -v "$tool" > /dev/null || { echo "$tool is missing" >&2; exit 2; }
done

scratch=$(mktemp -d)
started=()
finish() {
  for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done
  wineserver -k 2> /dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
export WINEPREFIX=$scratch/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml=;winemenubuilder.exe='
export ENGINE_SAVE_DIR=$scratch/saves
unset DISPLAY WAYLAND_DISPLAY
wine wineboot --init > /dev/null 2>&1
wineserver --wait
# Wine 8 lacks the function from which Rust's library gets random numbers.
system=$WINEPREFIX/drive_c/windows/system32
if [[ ! -f $system/bcryptprimitives.dll ]]; then
  cat > "$scratch/random.c" << 'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  for (SIZE_T at = 0; at < length; at++) {
    if (!RtlGenRandom(data + at, 1)) return FALSE;
  }
  return TRUE;
}
END
  x86_64-w64-mingw32-gcc -shared -o "$system/bcryptprimitives.dll" "$scratch/random.c" -ladvapi32
fi

failed=()
step=
passed() { echo "ok     $step: $1"; }
wrong() {
  echo "FAILED $step: $1" >&2
  failed+=("$step")
}

# Runs the engine for Windows, with both outputs in one file and a limit of time.
win() {
  local log=$1 seconds=$2
  shift 2
  timeout --kill-after=10 "$seconds" wine "$windows" "$@" < /dev/null > "$log" 2>&1
}

# Plays a game that Linux recorded, and reports whether all hashes are equal.
replay() {
  local game=$1 recording=$2 what=$3
  if win "$scratch/log" 900 run "$game" --headless --replay "$recording"; then
    passed "$what: $(grep -o 'replayed [0-9]* frames.*' "$scratch/log" | tr -d '\r')"
  else
    wrong "$what: $(tail -n 12 "$scratch/log")"
  fi
}

# Copies a game without data that an engine compiled.
copy() { mkdir -p "$2" && tar -C "$1" --exclude=./.engine -cf - . | tar -C "$2" -xf -; }

new_game() {
  [[ -d $scratch/game ]] || (cd "$scratch" && win "$scratch/log" 60 new game)
}

check_start() {
  if win "$scratch/log" 60 --version --verbose && grep -q 'target: .*windows' "$scratch/log"; then
    passed "$(tr -d '\r' < "$scratch/log" | tr '\n' ' ')"
  else
    wrong "$(cat "$scratch/log")"
  fi
  if new_game; then passed "engine new makes a game"; else wrong "$(cat "$scratch/log")"; fi
}

check_template() {
  new_game || true
  "$linux" run "$scratch/game" --headless --frames 600 --record "$scratch/t.recording" > /dev/null 2>&1
  rm -rf "$scratch/game/.engine"
  replay "$scratch/game" "$scratch/t.recording" "the template"
}

check_suites() {
  new_game || true
  copy tests/lua "$scratch/suites"
  local folder
  for folder in game suites; do
    if win "$scratch/log" 1800 test "$scratch/$folder"; then
      passed "$folder: $(tail -n 1 "$scratch/log" | tr -d '\r')"
    else
      cp "$scratch/log" "target/wine-$folder.log"
      wrong "$folder: $(tail -n 1 "$scratch/log" | tr -d '\r') (target/wine-$folder.log)"
    fi
  done
}

examples() { find examples -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort; }

check_recordings() {
  local name
  for name in $(examples); do
    copy "examples/$name" "$scratch/$name"
    replay "$scratch/$name" "$scratch/$name/recordings/session.recording" "$name"
  done
}

check_frames() {
  local name
  for name in $(examples); do
    copy "examples/$name" "$scratch/$name"
    if ! "$linux" run "$scratch/$name" --headless --frames 3000 --seed 1 \
      --record "$scratch/f.recording" > "$scratch/log" 2>&1; then
      wrong "$name on Linux: $(tail -n 5 "$scratch/log")"
      continue
    fi
    rm -rf "$scratch/$name/.engine"
    replay "$scratch/$name" "$scratch/f.recording" "$name"
  done
}

check_watchdog() {
  mkdir -p "$scratch/loop"
  echo 'function update() local n = 0 while true do n = n + 1 end end' > "$scratch/loop/main.lua"
  echo 'limits = { update_seconds = 1 }' > "$scratch/loop/settings.sjson"
  local code=0
  win "$scratch/log" 60 run "$scratch/loop" --headless --frames 10 || code=$?
  if ((code == 1)) && grep -q 'main.lua:1' "$scratch/log"; then
    passed "$(grep -m 1 -i 'second' "$scratch/log" | tr -d '\r')"
  else
    wrong "exit code $code: $(tail -n 12 "$scratch/log")"
  fi
}

check_reload() {
  mkdir -p "$scratch/reload"
  printf 'function update() print("one") end' > "$scratch/reload/main.lua"
  win "$scratch/log" 60 run "$scratch/reload" --headless --realtime --frames 600 &
  local run=$! waited
  started+=("$run")
  for waited in $(seq 100); do grep -q one "$scratch/log" && break; sleep 0.1; done
  printf 'function update() print("two") Application.quit(7) end' > "$scratch/reload/main.lua"
  local code=0
  wait "$run" || code=$?
  if ((code == 7)) && grep -q two "$scratch/log"; then
    passed "a saved script runs in the game"
  else
    wrong "exit code $code: $(tail -n 5 "$scratch/log")"
  fi
}

# Prints what objdump says about an executable.
objects() { x86_64-w64-mingw32-objdump "$@" 2> /dev/null; }

# Writes a picture of one colour, as the icon of a game.
write_icon() {
  python3 - "$1" << 'END'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
header = struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)
rows = zlib.compress(b"".join(b"\0" + bytes([255, 128, 0]) * 256 for _ in range(256)))
with open(sys.argv[1], "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
END
}

check_package() {
  copy examples/arcade "$scratch/sold"
  write_icon "$scratch/sold/own_icon.png"
  printf '\npackage = { icon = "own_icon.png" }\n' >> "$scratch/sold/settings.sjson"
  # Engines for players have no symbols.
  x86_64-w64-mingw32-strip -o "$scratch/engine.exe" "$windows"
  if ! "$linux" package "$scratch/sold" --platform windows --engine "$scratch/engine.exe" --skip-check \
    --out "$scratch/packages" > "$scratch/log" 2>&1; then
    wrong "$(cat "$scratch/log")"
    return
  fi
  passed "$(grep -m 1 '\.zip: ' "$scratch/log" | sed "s|$scratch/||")"
  rm -rf "$scratch/player" "$scratch/sold"
  mkdir "$scratch/player"
  python3 -m zipfile -e "$scratch"/packages/*.zip "$scratch/player"
  local program
  program=$(find "$scratch/player" -name '*.exe')
  local subsystem
  subsystem=$(objects -p "$program" | grep '^Subsystem')
  if [[ $subsystem == *'(Windows GUI)'* ]]; then
    passed "it opens no console"
  else
    wrong "it is for $subsystem"
  fi
  # Its own libraries would have to be in the package: all others are those of the system.
  local foreign
  foreign=$(objects -p "$program" | sed -n 's/^\tDLL Name: //p' |
    grep -viE '^(api-ms-|ext-ms-|kernel32|user32|gdi32|advapi32|ntdll|shell32|ole32|oleaut32|msvcrt|ws2_32)' |
    grep -viE '^(bcrypt|bcryptprimitives|dwmapi|uxtheme|imm32|opengl32|winmm|propsys|powrprof|setupapi|pdh|psapi|shlwapi|userenv|version|comctl32|secur32|netapi32|iphlpapi|combase|d3d12|dxgi|dcomp|d3dcompiler_47|mmdevapi|rpcrt4)\.dll$' ||
    true)
  if [[ -z $foreign ]]; then
    passed "it needs only libraries of the system"
  else
    wrong "it needs $foreign"
  fi
  if python3 - "$program" << 'END'; then passed "icon and version are resources"; else wrong "resources"; fi
import struct, sys
data = open(sys.argv[1], "rb").read()
pe = struct.unpack_from("<I", data, 0x3c)[0]
sections, optional = struct.unpack_from("<H", data, pe + 6)[0], struct.unpack_from("<H", data, pe + 20)[0]
address, size = struct.unpack_from("<II", data, pe + 24 + 112 + 16)
for at in range(sections):
    _, where, _, raw = struct.unpack_from("<IIII", data, pe + 24 + optional + 40 * at + 8)
    if where == address:
        start = raw
def kinds(at):
    named, numbered = struct.unpack_from("<HH", data, at + 12)
    return [struct.unpack_from("<I", data, at + 16 + 8 * i)[0] for i in range(named + numbered)]
found = kinds(start)
assert {3, 14, 16} <= set(found), found
for text in ("VS_VERSION_INFO", "FileVersion", "ProductName"):
    assert text.encode("utf-16-le") in data[start:start + size], text
END
  local code=0
  win "$scratch/log" 300 run "$program" --headless --frames 300 || code=$?
  if ((code == 0)); then
    passed "it plays without its folder: $(tail -n 1 "$scratch/log" | tr -d '\r')"
  else
    wrong "exit code $code: $(tail -n 5 "$scratch/log")"
  fi
}

check_sound() {
  mkdir -p "$scratch/tone"
  cp examples/arcade/sounds/blip.wav "$scratch/tone"
  cat > "$scratch/tone/main.lua" << 'END'
local frame = 0
function update()
  if frame % 30 == 0 then Sound.trigger(Application.main_world(), "blip") end
  frame = frame + 1
end
END
  cat > "$scratch/alsa.conf" << END
</usr/share/alsa/alsa.conf>
pcm.!default { type file slave.pcm "null" file "$scratch/heard.raw" format "raw" }
ctl.!default { type hw card 0 }
END
  rm -f "$scratch/heard.raw"
  ALSA_CONFIG_PATH=$scratch/alsa.conf win "$scratch/log" 120 run "$scratch/tone" --headless --realtime \
    --audio device --frames 180 || true
  local loud=0
  [[ ! -f $scratch/heard.raw ]] || loud=$(tr -d '\0' < "$scratch/heard.raw" | wc -c)
  if ((loud > 1000)) && ! grep -q 'no sound is heard' "$scratch/log"; then
    passed "the sound device played $loud bytes that are not silence"
  else
    wrong "$loud bytes that are not silence: $(tail -n 5 "$scratch/log")"
  fi
}

# Writes the packages of a small game with a version into a folder, and an installer.
package_msi() {
  mkdir -p "$scratch/yard"
  write_icon "$scratch/yard/icon.png"
  echo 'function update() Application.quit(7) end' > "$scratch/yard/main.lua"
  cat > "$scratch/yard/settings.sjson" << END
package = {
  id = "com.example.Yard", title = "Yard: Émile's game", file_name = "yard", version = "$1"
  author = "Émile", summary = "Dig", icon = "icon.png"
}
END
  "$linux" package "$scratch/yard" --platform windows --engine "$scratch/engine.exe" --skip-check \
    --msi --out "$scratch/$2" > "$scratch/log" 2>&1
}

# Runs an installer without windows.
msi() { timeout --kill-after=10 300 wine msiexec "$1" "$2" /qn < /dev/null > "$scratch/log" 2>&1; }

# Prints the versions of all installed programs.
installed() {
  local root
  for root in HKLM HKCU; do
    wine reg query "$root\\Software\\Microsoft\\Windows\\CurrentVersion\\Uninstall" /s 2> /dev/null |
      tr -d '\r' | sed -n 's/.*DisplayVersion *REG_SZ *//p'
  done
}

# Prints the shortcut of the game. The letters of its title depend on the locale.
shortcut() { find "$1/AppData/Roaming/Microsoft/Windows/Start Menu" -name 'Yard*game.lnk'; }

check_msi() {
  x86_64-w64-mingw32-strip -o "$scratch/engine.exe" "$windows"
  if ! { package_msi 1.2 old && package_msi 1.2 again && package_msi 1.3 new; }; then
    wrong "$(cat "$scratch/log")"
    return
  fi
  local old=$scratch/old/yard-1.2-windows-x86_64.msi new=$scratch/new/yard-1.3-windows-x86_64.msi
  if cmp -s "$old" "$scratch/again/${old##*/}"; then
    passed "two runs write the same $(stat -c %s "$old") bytes"
  else
    wrong "two runs write different bytes"
  fi
  local user folder code=0
  user=$(find "$WINEPREFIX/drive_c/users" -mindepth 1 -maxdepth 1 -type d ! -name Public)
  folder=$user/AppData/Local/Programs/com.example.Yard
  msi /i "$old" || wrong "exit code $? of the installer: $(cat "$scratch/log")"
  if [[ -f $folder/yard.exe && -f $folder/licenses/engine-mit.txt && -n $(shortcut "$user") &&
    $(installed) == 1.2.0 ]]; then
    passed "it installs the program, licences, a shortcut and an entry in the list of programs"
  else
    wrong "it installs $(find "$folder") '$(shortcut "$user")' '$(installed)'"
  fi
  win "$scratch/log" 300 run "$folder/yard.exe" --headless --frames 10 || code=$?
  if ((code == 7)); then passed "the game plays"; else wrong "exit code $code: $(cat "$scratch/log")"; fi
  echo own > "$folder/of_the_player.txt"
  msi /i "$new" || wrong "exit code $? of the newer installer: $(cat "$scratch/log")"
  if [[ -f $folder/yard.exe && -f $folder/licenses/engine-mit.txt && $(installed) == 1.3.0 ]]; then
    passed "a newer version replaces it"
  else
    wrong "after a newer version: $(find "$folder") '$(installed)'"
  fi
  if ! msi /i "$old" && [[ -f $folder/yard.exe && $(installed) == 1.3.0 ]]; then
    passed "an older version is refused"
  else
    wrong "after an older version: $(find "$folder") '$(installed)'"
  fi
  msi /x "$new" || wrong "exit code $? of the removal: $(cat "$scratch/log")"
  if [[ $(find "$folder" -type f) == "$folder/of_the_player.txt" && -z $(shortcut "$user") &&
    -z $(installed) ]]; then
    passed "it removes all but the player's own file"
  else
    wrong "the removal leaves $(find "$folder") '$(shortcut "$user")' '$(installed)'"
  fi
}

check_window() {
  local tool
  for tool in Xvfb xdotool; do
    command -v "$tool" > /dev/null || { wrong "$tool is missing"; return; }
  done
  mkfifo "$scratch/display"
  Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp > "$scratch/display" 2> /dev/null &
  started+=($!)
  local number run waited
  read -r number < "$scratch/display"
  mkdir -p "$scratch/keys"
  echo 'name = "Keys"' > "$scratch/keys/settings.sjson"
  cat > "$scratch/keys/main.lua" << 'END'
function update()
  if Keyboard.pressed("space") then print("key arrived") Application.quit() end
end
function render()
  Gui.rect(Application.main_gui(), Vector3(100, 100, 1), Vector2(400, 300), Color(255, 0, 0))
  Application.render_world(Application.main_world())
end
END
  # Wine 8 has no compiler for shaders of Direct3D, and without a desktop of its own, its display
  # modes lack what the windowing library expects.
  wineserver --kill || true
  DISPLAY=:$number WGPU_BACKEND=vulkan timeout --kill-after=10 300 \
    wine explorer /desktop=engine,1280x720 "$windows" run "$scratch/keys" --renderer auto --no-tools \
    --screenshot "$scratch/shot.png@3" > "$scratch/log" 2>&1 < /dev/null &
  run=$!
  started+=("$run")
  for waited in $(seq 600); do [[ -s $scratch/shot.png ]] && break; sleep 0.2; done
  DISPLAY=:$number xdotool key space
  wait "$run" || true
  if grep -q 'key arrived' "$scratch/log"; then
    passed "a key arrives in the window"
  else
    wrong "no key arrives: $(tail -n 12 "$scratch/log")"
  fi
  "$linux" run "$scratch/keys" --headless --frames 4 --renderer software \
    --screenshot "$scratch/linux.png@3" > /dev/null 2>&1 || true
  if cmp -s "$scratch/shot.png" "$scratch/linux.png"; then
    passed "its picture is that of Linux"
  else
    wrong "its picture differs from that of Linux"
  fi
}

for step in "${steps[@]}"; do
  case $step in
    start | template | suites | recordings | frames | watchdog | reload | package | msi | sound | window)
      "check_$step"
      ;;
    *) echo "there is no step '$step'" >&2; exit 2 ;;
  esac
done
if ((${#failed[@]} > 0)); then
  echo "failed: $(printf '%s\n' "${failed[@]}" | sort -u | tr '\n' ' ')" >&2
  exit 1
fi
echo "all steps passed"
