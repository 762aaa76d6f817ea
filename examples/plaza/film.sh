#!/bin/sh
# Draws the film strips of the figure's movements: eight frames of each scene of films.lua. Needs
# Python, and a graphics adapter or lavapipe.
#
#   ./film.sh [ENGINE]      writes films/run.png, films/jump.png, films/aim.png, films/fall.png
set -eu
engine=${1:-engine}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$here/films"

film() { # film SCENE FIRST LAST
  ENGINE_SAVE_DIR="$scratch/saves" "$engine" run "$here" --boot films --headless --frames "$3" \
    --renderer software --audio null --no-tools --quiet \
    --film "$scratch/$1.png@$2-$3" -- "$1"
  python3 "$here/../make_picture.py" "$scratch/$1.png" "$here/films/$1.png" 800
}

film run 60 130
film jump 66 136
film aim 30 160
film fall 58 330
