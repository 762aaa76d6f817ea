# What the record.sh of all examples share, to be sourced: the game in a real window on a display that
# nobody sees, for xdotool to play. Needs Xvfb and xdotool. Nothing is drawn, so that no machine is too
# slow for it; a replay draws the same.
#
# Before: `title` of the window and `size` of the display; the engine may be the first argument. After:
# $window is the window and $game the process; `keep` waits for its end and keeps the recording.
set -eu
cd "$(dirname "$0")"
engine=${1:-engine}
scratch=$(mktemp -d)
mkfifo "$scratch/display"
Xvfb -displayfd 1 -screen 0 "${size}x24" -nolisten tcp > "$scratch/display" 2> /dev/null &
server=$!
game=
trap 'kill $game $server 2> /dev/null || true; rm -rf "$scratch"' EXIT
read -r number < "$scratch/display"
export DISPLAY=":$number" XDG_RUNTIME_DIR="$scratch" ENGINE_SAVE_DIR="$scratch/saves"
unset WAYLAND_DISPLAY

"$engine" run . --record "$scratch/session.recording" --renderer null --audio null --no-tools \
  > "$scratch/log" 2>&1 &
game=$!
window=$(xdotool search --sync --onlyvisible --name "^$title\$")
xdotool windowfocus --sync "$window"

keep() {
  wait "$game" || { cat "$scratch/log"; exit 1; }
  cat "$scratch/log"
  mkdir -p recordings
  mv "$scratch/session.recording" recordings/
}
