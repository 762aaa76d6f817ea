#!/bin/sh
# Draws the film strip of the objects with graphs: a lamp that breaks, a crate, a lever with its lift,
# the trap and the door of the vault. Needs Python, and a graphics adapter or lavapipe.
#
#   ./film.sh [ENGINE [PICTURE]]      writes film.png
set -eu
engine=${1:-engine}
here=$(cd "$(dirname "$0")" && pwd)
picture=${2:-$here/film.png}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$here" "$scratch/game"
cp "$here/tests/film.lua" "$scratch/game/tests/film_test.lua"
"$engine" test "$scratch/game" --filter "is a film" --update-golden --timeout 600
python3 "$here/../make_picture.py" --strip 4 "$scratch"/game/tests/film_test.golden/film_?.png \
  "$picture" 1280
