#!/bin/sh
# Records a session, played by keys and a mouse: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title="Night town" size=960x540
. "$(dirname "$0")/../recorder.sh"
sleep 0.5

hold() { # hold KEY SECONDS
  xdotool keydown "$1"
  sleep "$2"
  xdotool keyup "$1"
}

hold w 1.5
xdotool mousemove --window "$window" 480 300
xdotool mousedown 3
for _ in 1 2 3 4 5 6; do
  xdotool mousemove_relative -- 12 -3
  sleep 0.04
done
xdotool mouseup 3
hold d 0.5
hold x 0.6 # more rain
hold c 0.4 # less fog
xdotool mousemove --window "$window" 220 56 # the slider of the time
sleep 0.2
xdotool mousedown 1
for _ in 1 2 3 4 5 6 7 8; do
  xdotool mousemove_relative -- -6 0
  sleep 0.06
done
xdotool mouseup 1
sleep 0.4
xdotool key f # flies
sleep 1.2
xdotool key space # lets time pass
sleep 2.5
xdotool key space
xdotool key m
sleep 0.4
xdotool key m Tab
sleep 0.6
xdotool key f
hold a 0.6
hold v 0.5
kill -INT "$game"
keep
