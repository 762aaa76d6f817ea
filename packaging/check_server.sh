#!/usr/bin/env bash
# Plays games with an engine for servers, and compares them with an engine for players.
#
#   packaging/check_server.sh [--server ENGINE] [--player ENGINE] [STEP...]
#
# The steps, all if none is named:
#   start       the version, and a new game from its template, which an engine with all commands makes
#   template    the new game for 600 frames, with the hashes that the engine for players recorded
#   suites      the engine's own Lua suites, and those of the new game; skipped by an engine that
#               only plays bundles
#   recordings  the recorded sessions of all examples, with their hashes
#   absent      what needs a renderer or a sound device is an error or a warning that says so
#   package     a package for servers; it is played without the game's folder, and ends when it is
#               asked to
#   container   the steps of its container file, in a root folder with nothing but the C library:
#               as a user without rights, as the first process (needs the rights to call unshare)
#
# The engines are target/distribution/engine-server-linux and target/debug/engine, if none is named.
# An engine that only plays bundles gets those that the engine for players compiles. One with all
# commands (packaging/server.sh --development, engine-headless-linux) plays the folders.
set -euo pipefail

server=
player=
steps=()
while (($# > 0)); do
  case $1 in
    --server) server=$(realpath -- "${2:?name an engine after --server}"); shift 2 ;;
    --player) player=$(realpath -- "${2:?name an engine after --player}"); shift 2 ;;
    -*) echo "usage: $0 [--server ENGINE] [--player ENGINE] [STEP...]" >&2; exit 2 ;;
    *) steps+=("$1"); shift ;;
  esac
done
if ((${#steps[@]} == 0)); then
  steps=(start template suites recordings absent package container)
fi
# After the options: they name files in the folder of the caller.
cd "$(dirname "$0")/.."
server=${server:-target/distribution/engine-server-linux}
player=${player:-target/debug/engine}
for engine in "$server" "$player"; do
  [[ -f $engine ]] || { echo "there is no engine at $engine" >&2; exit 2; }
done
server=$(realpath "$server")
player=$(realpath "$player")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export ENGINE_SAVE_DIR=$scratch/saves
unset DISPLAY WAYLAND_DISPLAY

failed=()
skipped=()
step=
passed() { echo "ok     $step: $1"; }
wrong() {
  echo "FAILED $step: $1" >&2
  failed+=("$step")
}

# Runs the engine for servers, with both outputs in one file and a limit of time.
serve() {
  local seconds=$1
  shift
  timeout --kill-after=10 "$seconds" "$server" "$@" < /dev/null > "$scratch/log" 2>&1
}

# Copies a game without data that an engine compiled.
copy() { mkdir -p "$2" && tar -C "$1" --exclude=./.engine -cf - . | tar -C "$2" -xf -; }

# True for an engine without compilers.
plays_bundles_only=false
if ! serve 60 --version --verbose; then
  echo "$server does not start: $(cat "$scratch/log")" >&2
  exit 1
fi
if grep -q 'plays bundles' "$scratch/log"; then plays_bundles_only=true; fi

# Runs the engine for players, with both outputs in one file.
make_with_player() { timeout 900 "$player" "$@" < /dev/null > "$scratch/log" 2>&1; }

# Makes the new game, once, with the engine for servers if it can.
new_game() {
  [[ ! -d $scratch/game ]] || return 0
  if $plays_bundles_only; then
    (cd "$scratch" && make_with_player new game)
  else
    (cd "$scratch" && serve 60 new game)
  fi
}

# Plays the game in a folder with the engine for servers.
play() {
  local seconds=$1 game=$2
  shift 2
  if $plays_bundles_only; then
    make_with_player compile "$game" --bundle --skip-check --out "$game.bundle" || return
    game=$game.bundle
  fi
  serve "$seconds" run "$game" "$@"
}

# Plays a recorded game, and reports whether all hashes are equal.
replay() {
  local game=$1 recording=$2 title=$3
  if play 900 "$game" --replay "$recording"; then
    passed "$title: $(grep -o 'replayed [0-9]* frames.*' "$scratch/log")"
    return
  fi
  local difference
  difference=$(tail -n 12 "$scratch/log")
  # A bundle can differ from its folder in the order of keys (docs/testing.md), on every engine.
  if $plays_bundles_only && [[ -f $game.bundle ]] \
    && ! make_with_player run "$game.bundle" --headless --replay "$recording"; then
    wrong "$title: the bundle differs on the engine for players, too: $difference"
  else
    wrong "$title: $difference"
  fi
}

check_start() {
  if serve 60 --version --verbose && grep -q '^features: for servers' "$scratch/log"; then
    passed "$(tr '\n' ' ' < "$scratch/log")"
  else
    wrong "$(cat "$scratch/log")"
  fi
  if new_game && play 120 "$scratch/game" --frames 300; then
    passed "a new game plays: $(tail -n 1 "$scratch/log")"
  else
    wrong "$(cat "$scratch/log")"
  fi
}

check_template() {
  new_game || { wrong "$(tail -n 12 "$scratch/log")"; return; }
  if ! "$player" run "$scratch/game" --headless --frames 600 --record "$scratch/t.recording" \
    > "$scratch/log" 2>&1; then
    wrong "the engine for players: $(tail -n 12 "$scratch/log")"
    return
  fi
  rm -rf "$scratch/game/.engine"
  replay "$scratch/game" "$scratch/t.recording" "the template"
}

check_suites() {
  if $plays_bundles_only; then
    echo "SKIPPED $step: the engine has no test library" >&2
    skipped+=("$step")
    return
  fi
  new_game || { wrong "$(tail -n 12 "$scratch/log")"; return; }
  copy tests/lua "$scratch/suites"
  local folder
  for folder in game suites; do
    if serve 1800 test "$scratch/$folder"; then
      passed "$folder: $(tail -n 1 "$scratch/log")"
    else
      wrong "$folder: $(tail -n 12 "$scratch/log")"
    fi
  done
}

check_recordings() {
  local recording name
  for recording in examples/*/recordings/session.recording; do
    name=${recording#examples/}
    name=${name%%/*}
    copy "examples/$name" "$scratch/$name"
    replay "$scratch/$name" "$scratch/$name/recordings/session.recording" "$name"
    rm -rf "${scratch:?}/$name" "$scratch/$name.bundle"
  done
}

# Runs a game with options, and compares the exit code and a text of the output.
expect() {
  local code=$1 text=$2 found=0
  shift 2
  play 120 "$scratch/absent" --frames 3 "$@" || found=$?
  if ((found == code)) && grep -q -F -- "$text" "$scratch/log"; then
    passed "$*: $(grep -m 1 -F -- "$text" "$scratch/log")"
  else
    wrong "$*: exit code $found: $(tail -n 5 "$scratch/log")"
  fi
}

check_absent() {
  mkdir -p "$scratch/absent"
  cat > "$scratch/absent/main.lua" << 'END'
function init() Window.set_clipboard("kept") Window.set_title("Server") end
function update() end
function render()
  Gui.rect(Application.main_gui(), Vector3(1, 2, 3), Vector2(4, 5), Color(6, 7, 8))
  Application.render_world(Application.main_world())
end
function shutdown() print("clipboard:", Window.clipboard()) end
END
  local choice
  for choice in auto gpu software; do
    expect 1 'for servers and has no renderer' --renderer "$choice"
  done
  expect 1 'for servers and has no renderer' --screenshot "$scratch/picture.png"
  expect 0 'clipboard:	kept' --renderer null
  expect 0 'clipboard:	kept' --headless
  expect 0 'for servers and opens no sound device' --audio device --realtime
  expect 0 'clipboard:	kept' --audio-out "$scratch/sound.wav"
  if [[ $(head -c 4 "$scratch/sound.wav") == RIFF ]]; then
    passed "sound is mixed into a file"
  else
    wrong "no sound was mixed"
  fi
  if $plays_bundles_only; then
    refused 1 'only plays bundles' run "$scratch/absent"
    refused 2 "has no command 'test'" test "$scratch/absent"
  fi
}

# Runs a command of an engine that only plays bundles, and compares the exit code and a text.
refused() {
  local code=$1 text=$2 found=0
  shift 2
  serve 60 "$@" || found=$?
  if ((found == code)) && grep -q -F -- "$text" "$scratch/log"; then
    passed "$1 of a folder: $(grep -m 1 -F -- "$text" "$scratch/log")"
  else
    wrong "$1: exit code $found: $(tail -n 5 "$scratch/log")"
  fi
}

# Writes a package for servers of a game that plays until it is asked to end.
new_package() {
  [[ ! -d $scratch/unpacked ]] || return 0
  mkdir -p "$scratch/sold" "$scratch/unpacked"
  cat > "$scratch/sold/main.lua" << 'END'
local frames = 0
function update()
  frames = frames + 1
  if frames == 3 then print("playing", Application.argv()) end
end
function shutdown() print("shutdown") end
END
  echo 'package = { title = "Yard", version = "1.2" }' > "$scratch/sold/settings.sjson"
  "$player" package "$scratch/sold" --server --engine "$server" --out "$scratch/packages" \
    > "$scratch/log" 2>&1 || return 1
  rm -rf "$scratch/sold"
  tar -C "$scratch/unpacked" -xJf "$scratch"/packages/*.tar.xz
}

# Starts a command, waits until the game plays, asks it to end, and reports whether it did.
play_and_end() {
  local title=$1 waited code=0
  shift
  "$@" < /dev/null > "$scratch/log" 2>&1 &
  local run=$!
  for waited in $(seq 200); do grep -q '^playing' "$scratch/log" && break; sleep 0.1; done
  # The process of the game itself is the child of those that start it.
  local game=$run child
  while child=$(pgrep -P "$game" | head -n 1) && [[ -n $child ]]; do
    [[ $(readlink "/proc/$game/exe") == */engine ]] && break
    game=$child
  done
  kill -TERM "$game" 2> /dev/null || true
  wait "$run" || code=$?
  if ((code == 0 || code == 143)) && grep -q '^shutdown' "$scratch/log"; then
    passed "$title: $(tr '\n' ' ' < "$scratch/log")"
  else
    wrong "$title: exit code $code: $(tail -n 5 "$scratch/log")"
  fi
}

check_package() {
  if ! new_package; then
    wrong "$(cat "$scratch/log")"
    return
  fi
  passed "$(ls "$scratch/packages"): $(wc -c < "$(ls "$scratch"/packages/*.tar.xz)") bytes"
  local folder=$scratch/unpacked/yard-1.2-server
  play_and_end "it plays without its folder" timeout 60 "$folder/engine" run "$folder/game.bundle" \
    --headless --realtime -- one
}

check_container() {
  if ((EUID != 0)) || ! unshare --pid --fork true 2> /dev/null; then
    echo "SKIPPED $step: it needs the rights of root, and to call unshare" >&2
    skipped+=("$step")
    return
  fi
  new_package || { wrong "$(cat "$scratch/log")"; return; }
  local folder=$scratch/unpacked/yard-1.2-server root=$scratch/root library
  mkdir -p "$root/server" "$root/proc" "$root/tmp"
  while read -r library; do
    install -D -m 755 "$library" "$root$library"
  done < <(ldd "$folder/engine" | grep -o '/[^ ]*')
  cp -r "$folder/engine" "$folder/game.bundle" "$folder/licenses" "$root/server"
  install -d -o 65534 -g 65534 "$root/saves"
  local line options
  line=$(sed -n 's/^ENTRYPOINT \[\(.*\)\]$/\1/p' "$folder/Containerfile")
  IFS=' ' read -r -a options <<< "$(tr -d '",' <<< "$line")"
  play_and_end "as its first process: ${options[*]}" \
    env -i PATH="$PATH" ENGINE_SAVE_DIR=/saves timeout --kill-after=10 60 \
    unshare --kill-child --pid --fork --mount --mount-proc="$root/proc" \
    chroot --userspec=65534:65534 "$root" "${options[@]}"
}

for step in "${steps[@]}"; do
  case $step in
    start | template | suites | recordings | absent | package | container) "check_$step" ;;
    *) echo "there is no step '$step'" >&2; exit 2 ;;
  esac
done
if ((${#failed[@]} > 0)); then
  echo "failed: $(printf '%s\n' "${failed[@]}" | sort -u | tr '\n' ' ')" >&2
  exit 1
fi
if ((${#skipped[@]} > 0)); then
  echo "passed, but for the steps that were skipped: ${skipped[*]}"
else
  echo "all steps passed"
fi
