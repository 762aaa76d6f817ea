#!/bin/sh
# Records a session, played by keys and a mouse: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Museum size=960x540
. "$(dirname "$0")/../recorder.sh"
sleep 2
xdotool mousemove --window "$window" 365 380 # the western entrance
sleep 0.3
xdotool click 1
sleep 2
xdotool key 4
xdotool keydown w
sleep 0.4
xdotool keyup w
xdotool click --repeat 3 --delay 80 4 # comes nearer, by the wheel
xdotool keydown e
sleep 0.7
xdotool keyup e
xdotool key F1
sleep 1
xdotool key F1 1
sleep 2.5
xdotool key 4
sleep 1
kill -INT "$game"
keep
