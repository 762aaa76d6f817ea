#!/usr/bin/env bash
# Archives objects for macOS on another system: the programs of this system write no index of their
# functions.
set -euo pipefail
exec "$(dirname "$0")/../zig.sh" ar "$@"
