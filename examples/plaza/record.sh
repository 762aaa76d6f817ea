#!/bin/sh
# Records a session, played by keys and a mouse: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Plaza size=960x540
. "$(dirname "$0")/../recorder.sh"
sleep 0.5

hold() { # hold KEY SECONDS
  xdotool keydown "$1"
  sleep "$2"
  xdotool keyup "$1"
}

throw() { # throw X Y: at a point of the window
  xdotool mousemove --window "$window" "$1" "$2"
  sleep 0.2
  xdotool click 1
  sleep 0.9
}

hold d 1.4
xdotool keydown shift
hold w 1.1
xdotool key space
hold w 0.5
xdotool keyup shift
xdotool key g
sleep 0.6
xdotool key x # dives
sleep 1.4
hold w 0.3 # gets up
sleep 2.6
xdotool mousedown 3 # aims
throw 300 250
hold d 0.6
throw 420 240
throw 640 245
hold a 0.6
throw 560 240
xdotool mouseup 3
hold e 0.5
throw 480 250
throw 520 250
sleep 2.6
xdotool key r
hold d 0.3
kill -INT "$game"
keep
