// The start of the extension: connects the editor's debugger to `engine dap`. Commands and tasks
// are in commands.js, the test explorer is in suites.js.

const vscode = require("vscode");
const commands = require("./commands.js");
const { programOfCommand } = require("./program.js");
const suites = require("./suites.js");

const FOLDER = "${workspaceFolder}";

const adapter = {
  createDebugAdapterDescriptor() {
    const program = programOfCommand();
    return program && new vscode.DebugAdapterExecutable(program, ["dap"]);
  },
};

// F5 without a launch.json plays the game of the workspace.
const configurations = {
  resolveDebugConfiguration(_, { type, request, name, ...rest }) {
    const play = { type: "engine", request: "launch", name: "Play" };
    return { folder: FOLDER, ...(type ? { type, request, name } : play), ...rest };
  },
};

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory("engine", adapter),
    vscode.debug.registerDebugConfigurationProvider("engine", configurations),
    ...commands.register(),
    ...suites.register(),
  );
};
