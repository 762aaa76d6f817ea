// The engine's program, and the folders of games.

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");

// Returns true if programs may be run on the workspace.
exports.isTrusted = () => vscode.workspace.isTrusted;

function isFile(file) {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

// Returns the absolute path of the engine's program, or undefined if it is not found. Only the
// user's own settings name the program: a workspace cannot choose what is run. A bare name is
// looked up in the absolute folders of PATH alone: Windows would look into the current folder
// first, and a game's folder may have a program of that name.
exports.enginePath = () => {
  const name = vscode.workspace.getConfiguration("engine").get("path") || "engine";
  if (path.isAbsolute(name)) return name;
  if (path.basename(name) !== name) return undefined;
  const isBare = process.platform === "win32" && !/\.exe$/i.test(name);
  const file = isBare ? `${name}.exe` : name;
  return (process.env.PATH || "")
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, file))
    .find(isFile);
};

exports.NOT_FOUND =
  "The engine's program is not found: put it on the path, or write its absolute path into " +
  "the setting engine.path.";

// Returns the program for a command of the user. Shows a message and returns undefined if the
// workspace is not trusted, or if there is no program.
exports.programOfCommand = () => {
  const program = exports.isTrusted() ? exports.enginePath() : undefined;
  if (!exports.isTrusted()) {
    vscode.window.showErrorMessage("Games are run only in trusted workspaces: trust it first.");
  } else if (!program) {
    vscode.window.showErrorMessage(exports.NOT_FOUND);
  }
  return program;
};

exports.gameFolders = () =>
  (vscode.workspace.workspaceFolders || []).filter((folder) => folder.uri.scheme === "file");

// Asks for a folder if there are several. Returns undefined if there is none.
exports.chooseFolder = async () => {
  const folders = exports.gameFolders();
  if (folders.length > 1) return vscode.window.showWorkspaceFolderPick();
  if (folders.length === 0) vscode.window.showErrorMessage("Open the folder of a game first.");
  return folders[0];
};
