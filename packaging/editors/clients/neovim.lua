-- Debugs a game in Neovim with nvim-dap, with the settings of docs/debugging.md, and prints the
-- session.
--
--     ENGINE=… GAME=… SETTINGS=… nvim --headless --clean --cmd "set rtp+=NVIM_DAP" \
--       -c "luafile neovim.lua"
--
-- SETTINGS is a file with the Lua block of the page. GAME has the main.lua of its first session.
local dap = require("dap")

local function say(text) io.stdout:write(text, "\n") end

local function finish(code, text)
  if text then say(text) end
  vim.schedule(function() vim.cmd(code .. "cquit") end)
end

dofile(vim.env.SETTINGS)
local adapter, launch = dap.adapters.engine, dap.configurations.lua[1]
assert(adapter.command == "engine" and launch.folder == "${workspaceFolder}")
adapter.command = vim.env.ENGINE
launch.headless = true
vim.cmd("cd " .. vim.env.GAME .. " | edit main.lua | 5")
dap.set_breakpoint()

-- What follows each stop.
local steps = {
  function(session, frame)
    session:request("evaluate", { expression = "score + points", frameId = frame.id,
      context = "repl" }, function(problem, answer)
      say("> score + points\n" .. (problem and problem.message or answer.result))
      dap.step_over()
    end)
  end,
  function() dap.step_out() end,
  function()
    dap.clear_breakpoints()
    dap.terminate()
    vim.wait(20000, function() return dap.session() == nil end)
    finish(dap.session() and 1 or 0, dap.session() and "the game plays on" or "terminated")
  end,
}
local titles, at = { "launch", "step over", "step out" }, 0
local reason

dap.listeners.before.event_stopped.check = function(_, body) reason = body.reason end
dap.listeners.after.stackTrace.check = function(session, problem, answer)
  if reason == nil then return end
  at = at + 1
  local frame, said = not problem and answer.stackFrames[1], reason
  reason = nil
  if not frame then return finish(1, "no stack: " .. vim.inspect(problem)) end
  say(("%s: %s at %s:%d"):format(titles[at], said, frame.source.name, frame.line))
  -- nvim-dap shows the frame first.
  vim.defer_fn(function() steps[at](session, frame) end, 100)
end
vim.defer_fn(function() finish(1, "the session does not end") end, 60000)
dap.run(launch)
