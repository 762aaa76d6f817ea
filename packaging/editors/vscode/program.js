// The engine's program, and the folders of games.

const vscode = require("vscode");

// Only the user's own settings name the program: a workspace cannot choose what is run.
exports.enginePath = () => vscode.workspace.getConfiguration("engine").get("path") || "engine";

exports.gameFolders = () =>
  (vscode.workspace.workspaceFolders || []).filter((folder) => folder.uri.scheme === "file");

// Asks for a folder if there are several. Returns undefined if there is none.
exports.chooseFolder = async () => {
  const folders = exports.gameFolders();
  if (folders.length > 1) return vscode.window.showWorkspaceFolderPick();
  if (folders.length === 0) vscode.window.showErrorMessage("Open the folder of a game first.");
  return folders[0];
};
