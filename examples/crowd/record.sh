#!/bin/sh
# Records a session, played by a mouse and keys: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Crowd size=1280x720
. "$(dirname "$0")/../recorder.sh"
sleep 0.5

click() { # click X Y: in pixels from the left top
  xdotool mousemove --window "$window" "$1" "$2"
  sleep 0.2
  xdotool click 1
  sleep 0.2
}

build() { # build COLUMN ROW: clicks into that cell, which count from the left bottom
  click $((($1 - 1) * 32 + 16)) $((640 - ($2 - 1) * 32 - 16))
}

# Four towers around the lamp, the last one chosen by its card. What stands on a stone is refused.
build 33 11
build 34 6
xdotool key 2
build 31 9
build 40 11
click 880 680
build 34 9
click 1140 680 # the first wave
xdotool key g
sleep 10
# The tide, and towers in its midst.
xdotool key t
sleep 3
xdotool key 1
for cell in "27 12" "29 5" "22 13" "21 8" "17 12" "13 15" "27 16" "9 12" "14 4"; do
  build ${cell% *} ${cell#* }
done
xdotool key g
xdotool key 3
for cell in "28 9" "24 6" "24 13" "16 8"; do
  build ${cell% *} ${cell#* }
done
xdotool key 2
for cell in "21 10" "10 8" "30 13"; do
  build ${cell% *} ${cell#* }
done
xdotool key g
xdotool mousemove --window "$window" 1250 600
sleep 6
kill -INT "$game"
keep
