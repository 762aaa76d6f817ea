#!/usr/bin/env python3
"""Debugs the first session of docs/debugging.md with clients of the Debug Adapter Protocol that are
installed, and prints each session.

    python3 packaging/editors/check_clients.py ENGINE [--npm FOLDER] [--nvim-dap FOLDER]

The folder of npm is one in which `npm install @vscode/debugadapter-testsupport` was run; that of
nvim-dap has its source. Exits with 1 if a session is not the one in the page."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")
PAGE = os.path.join(CLIENTS, "../../../docs/debugging.md")
# The sessions in the page, by client.
TITLES = {"npm": "### The test client from npm\n", "nvim-dap": "### nvim-dap\n"}
# Seconds for a session, and for what it has started to end after it.
SESSION_MAX, END_MAX = 120, 20


def block(page, mark, after=""):
    """The text of the first block of code with this mark, after a text."""
    page = page.split(after, 1)[1] if after else page
    return page.split(f"```{mark}\n", 1)[1].split("```", 1)[0]


def run(command, variables):
    """What a client writes: output, and problems. A session that does not end is ended, and with it
    the adapter and the game, which hold the same pipes."""
    client = subprocess.Popen(
        command, env={**os.environ, **variables}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        output, problems = client.communicate(timeout=SESSION_MAX)
    except subprocess.TimeoutExpired:
        if os.name == "posix":
            os.killpg(client.pid, signal.SIGKILL)
        client.kill()
        try:
            output, problems = client.communicate(timeout=END_MAX)
        except subprocess.TimeoutExpired:
            output, problems = "", ""
        problems += f"{command[0]}: the session does not end in {SESSION_MAX} seconds\n"
    return output.replace("\r", ""), problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("--npm")
    parser.add_argument("--nvim-dap")
    options = parser.parse_args()
    engine = os.path.abspath(options.engine)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        game, settings = f"{folder}/game", f"{folder}/settings.lua"
        os.mkdir(game)
        with open(f"{game}/main.lua", "w", encoding="utf-8") as file:
            file.write(block(page, "lua", "## A first session\n"))
        with open(settings, "w", encoding="utf-8") as file:
            file.write(block(page, "lua fragment"))
        clients = {
            "npm": options.npm and (
                ["node", f"{CLIENTS}/protocol_client.js", engine, game],
                {"NODE_PATH": f"{options.npm}/node_modules"}),
            "nvim-dap": options.nvim_dap and (
                ["nvim", "--headless", "--clean", "--cmd", f"set rtp+={options.nvim_dap}",
                 "-c", f"luafile {CLIENTS}/neovim.lua"],
                {"ENGINE": engine, "GAME": game, "SETTINGS": settings, "HOME": folder}),
        }
        for name, client in clients.items():
            if not client:
                continue
            output, problems = run(*client)
            print(f"--- {name}\n{output}", end="", flush=True)
            if block(page, "text", TITLES[name]) not in output:
                print(problems, file=sys.stderr)
                failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
