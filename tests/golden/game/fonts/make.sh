#!/usr/bin/env bash
# Makes the fonts of the golden pictures of text: of Noto's fonts the characters that
# tests/golden/games.rs shows, with the rules for joining and stacking them.
#
# Wants fonttools (pip install fonttools), and the fonts of Debian's packages fonts-noto-core and
# fonts-noto-cjk in the folder that is given.
#
#   tests/golden/game/fonts/make.sh /usr/share/fonts
set -euo pipefail
from="$1"
to="$(dirname "$0")"

subset() {
  pyftsubset "$1" --output-file="$to/$2" --text="$3" --layout-features='*' --no-hinting \
    --desubroutinize --drop-tables+=vhea,vmtx,VORG --name-IDs=0,1,2,13,14 "${@:4}"
}

subset "$from/truetype/noto/NotoSansArabic-Regular.ttf" arabic.ttf \
  'السلام عليكم ورحمة الله، مرحبًا ١٢٣ (لا)'
subset "$from/truetype/noto/NotoSansDevanagari-Regular.ttf" devanagari.ttf \
  'नमस्ते दुनिया, क्षत्रिय श्री हिन्दी कर्त्तव्य १२३।'
subset "$from/opentype/noto/NotoSansCJK-Regular.ttc" japanese.otf \
  '日本語の文章を表示する。鬱蒼たる森、薔薇「東京」カタカナ' --font-number=0
