#!/bin/sh
# Records a session, played by keys: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Glimmer size=1280x720
. "$(dirname "$0")/../recorder.sh"
sleep 2

# Each key is a tap. Steps of a cave take 0.15 seconds, so one tap in 0.19 is one step each.
tap() {
  for key in "$@"; do
    xdotool key --clearmodifiers "$key"
    sleep 0.19
  done
}
taps() {
  for _ in $(seq "$1"); do tap "$2"; done
}

# To the menu's second line, through all languages, and back.
tap Down; sleep 0.5
for _ in 1 2 3 4; do tap Right; sleep 0.4; done
tap Up

# Four gems in a row; then below a stone, and on without looking up. The second and the third life
# end sooner.
tap Return; sleep 0.8
taps 2 Right; tap p; sleep 0.4; tap p
tap Right Down Down Left; taps 3 Down; tap Right Down; taps 3 Right; taps 2 Down
taps 5 Right; tap Down; sleep 0.4; taps 4 Left; tap Down Left Down
sleep 2.4
for _ in 2 3; do
  taps 2 Down; taps 7 Right; tap Down
  sleep 2.4
done
sleep 1.5
tap Escape
sleep 1
taps 2 Down
tap Return
sleep 3
if kill -0 $game 2> /dev/null; then
  echo "The game did not end: some of the keys came too late. Try again on a machine with less to do."
  exit 1
fi
keep
