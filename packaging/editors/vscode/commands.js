// The commands of the extension, and the tasks of a game.

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");
const {
  chooseFolder,
  enginePath,
  gameFolders,
  isTrusted,
  programOfCommand,
} = require("./program.js");

const MATCHERS = ["$engine", "$engine-report"];
const TASKS = ["run", "test", "check", "package"];
const TEMPLATES = [
  { label: "2d", description: "a ball and a paddle" },
  { label: "3d", description: "a tower of boxes" },
  { label: "platformer", description: "a game with maps, menus and sounds" },
  { label: "empty", description: "an empty game" },
];
const NAME = /^\w[\w .-]*$/;
// The address of a running game's page. Nothing else of the game's folder is opened.
const PAGE = /^http:\/\/127\.0\.0\.1:\d{1,5}\/\?token=[0-9A-Za-z_-]{1,256}$/;

function taskOf(program, folder, definition) {
  const { command, arguments: more = [] } = definition;
  const run = new vscode.ProcessExecution(program, [command, ".", ...more], {
    cwd: folder.uri.fsPath,
  });
  const matchers = command === "test" ? [...MATCHERS, "$engine-test"] : MATCHERS;
  const task = new vscode.Task(definition, folder, command, "engine", run, matchers);
  if (command === "test") task.group = vscode.TaskGroup.Test;
  if (command === "run") task.group = vscode.TaskGroup.Build;
  return task;
}

// An untrusted workspace has no tasks.
const tasks = {
  provideTasks() {
    const program = isTrusted() ? enginePath() : undefined;
    if (!program) return [];
    return gameFolders().flatMap((folder) =>
      TASKS.map((command) => taskOf(program, folder, { type: "engine", command })),
    );
  },
  resolveTask(task) {
    const known = TASKS.includes(task.definition.command) && task.scope && task.scope.uri;
    const program = known && isTrusted() ? enginePath() : undefined;
    return program ? taskOf(program, task.scope, task.definition) : undefined;
  },
};

async function runTask(command) {
  const program = programOfCommand();
  const folder = program && (await chooseFolder());
  if (!folder) return;
  await vscode.tasks.executeTask(taskOf(program, folder, { type: "engine", command }));
}

async function newGame() {
  const program = programOfCommand();
  if (!program) return;
  const template = await vscode.window.showQuickPick(TEMPLATES, { title: "Template" });
  if (!template) return;
  const options = { title: "The folder that the game is created in", canSelectFolders: true };
  const chosen = await vscode.window.showOpenDialog({ ...options, canSelectFiles: false });
  const validateInput = (text) => (NAME.test(text) ? "" : "letters, digits, spaces, -, _ and .");
  const name = chosen && (await vscode.window.showInputBox({ title: "Name", validateInput }));
  if (!name) return;
  const run = new vscode.ProcessExecution(program, ["new", name, "--template", template.label], {
    cwd: chosen[0].fsPath,
  });
  const scope = vscode.TaskScope.Global;
  const task = new vscode.Task({ type: "engine", command: "new" }, scope, "new", "engine", run, []);
  const execution = await vscode.tasks.executeTask(task);
  const ended = vscode.tasks.onDidEndTaskProcess((event) => {
    if (event.execution !== execution) return;
    ended.dispose();
    const game = vscode.Uri.joinPath(chosen[0], name);
    if (event.exitCode === 0) vscode.commands.executeCommand("vscode.openFolder", game);
  });
}

// Returns the address of the page of the game that runs in a folder.
function pageOf(folder) {
  const file = path.join(folder.uri.fsPath, ".engine", "session.json");
  try {
    const { page } = JSON.parse(fs.readFileSync(file, "utf8"));
    return typeof page === "string" && PAGE.test(page) ? page : undefined;
  } catch {
    return undefined;
  }
}

async function openPage(view) {
  const folder = await chooseFolder();
  if (!folder) return;
  const page = pageOf(folder);
  if (!page) {
    vscode.window.showErrorMessage("No game that runs in this folder lets tools in: run it first.");
    return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(view ? `${page}#${view}` : page, true));
}

// Sends a request of its own to `engine dap`.
async function ask(command, fields) {
  const session = vscode.debug.activeDebugSession;
  if (!session || session.type !== "engine") {
    vscode.window.showErrorMessage("No game is debugged: start it with F5.");
    return undefined;
  }
  return session.customRequest(command, fields);
}

async function stopSampling() {
  const samples = await ask("engineSampling", { on: false });
  if (!samples) return;
  const options = { language: "markdown", content: samples.text };
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(options));
}

async function breakAtNodes() {
  const found = await ask("engineFlowNodes", {});
  if (!found) return;
  const items = found.nodes.map(({ graph, node, title, breaks }) => ({
    label: title,
    description: `${graph}, node ${node}`,
    picked: breaks,
    graph,
    node,
  }));
  const options = { canPickMany: true, title: "Nodes at which the game stops" };
  const chosen = await vscode.window.showQuickPick(items, options);
  if (!chosen) return;
  const nodes = chosen.map(({ graph, node }) => ({ graph, node }));
  await ask("engineFlowBreakpoints", { nodes });
}

exports.register = () => {
  const handlers = {
    "engine.run": () => runTask("run"),
    "engine.new": newGame,
    "engine.package": () => runTask("package"),
    "engine.openPage": () => openPage(),
    "engine.startSampling": () => ask("engineSampling", { on: true }),
    "engine.stopSampling": stopSampling,
    "engine.openFlameGraph": () => openPage("profile"),
    "engine.breakAtNode": breakAtNodes,
  };
  return [
    vscode.tasks.registerTaskProvider("engine", tasks),
    ...Object.entries(handlers).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  ];
};
