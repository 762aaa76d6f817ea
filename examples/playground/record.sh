#!/bin/sh
# Records a session, played by keys and a mouse: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Playground size=960x540
. "$(dirname "$0")/../recorder.sh"
sleep 0.5

hold() { # hold KEY SECONDS
  xdotool keydown "$1"
  sleep "$2"
  xdotool keyup "$1"
}

drag() { # drag BUTTON X Y: with the button down, in small steps
  xdotool mousedown "$1"
  sleep 0.3
  for _ in 1 2 3 4 5 6 7 8; do
    xdotool mousemove_relative -- "$2" "$3"
    sleep 0.03
  done
  xdotool mouseup "$1"
}

hold w 1.2
xdotool key space
sleep 0.8
xdotool mousemove --window "$window" 375 165 # the barrel on top of the pyramid
sleep 0.3
xdotool click 1
sleep 0.4
xdotool mousemove --window "$window" 740 115 # a drum on top of the tower
sleep 0.2
drag 1 -20 -5
drag 3 6 -3 # turns the camera
hold a 0.3
hold s 0.25 # looks back
xdotool click --repeat 3 --delay 60 4 # comes nearer, by the wheel
xdotool key Tab
sleep 0.3
xdotool key f
sleep 0.6
xdotool mousemove --window "$window" 300 300 # points at what flies there
sleep 1.6
xdotool key F1
sleep 0.2
xdotool key F1 Tab
sleep 0.5
xdotool key r
hold d 0.3
xdotool key g # far from the lever
hold a 1.6 # over two plates of the vault
sleep 0.5
kill -INT "$game"
keep
