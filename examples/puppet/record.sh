#!/bin/sh
# Records a session, played by keys and a mouse: see ../recorder.sh.
#
#   ./record.sh [ENGINE]      writes recordings/session.recording
title=Puppet size=960x540
. "$(dirname "$0")/../recorder.sh"
sleep 0.5
xdotool mousemove --window "$window" 800 150
xdotool keydown Right
sleep 1.2
xdotool key x
sleep 0.6
xdotool key space
sleep 0.8
xdotool key c
sleep 0.5
xdotool keyup Right
xdotool mousemove --window "$window" 100 100
xdotool key v
sleep 0.4
xdotool key x
xdotool keydown Left
sleep 1.4
xdotool key c
xdotool keyup Left
sleep 0.6
kill -INT "$game"
keep
