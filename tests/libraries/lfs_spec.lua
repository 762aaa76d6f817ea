-- Suite of the module `lfs` without the sandbox. tests/libraries.rs runs it in its own folder,
-- because it creates and removes files next to itself.

local lfs = require("lfs")

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

describe("lfs", function()
  local here = lfs.currentdir()

  before_each(function()
    assert(lfs.mkdir("box"))
    write("box/b.txt", "four")
  end)
  after_each(function()
    assert(lfs.chdir(here))
    os.execute("rm -r box")
  end)

  it("tells what the system says of a file", function()
    local about = assert(lfs.attributes("box/b.txt"))
    assert.equal("file", about.mode)
    assert.equal(4, about.size)
    assert.equal(9, #about.permissions)
    assert.matches("^rw", about.permissions)
    assert.equal(1, about.nlink)
    for _, key in ipairs({ "dev", "ino", "uid", "gid", "rdev", "access", "modification", "change",
      "blocks", "blksize" }) do
      assert.is_number(about[key], key)
    end
    assert.equal("directory", lfs.attributes("box", "mode"))
    assert.equal(4, lfs.attributes("box/b.txt", "size"))
    local given = { kept = true }
    assert.equal(given, lfs.attributes("box/b.txt", given))
    assert.is_true(given.kept and given.size == 4)
  end)

  it("says what is not there", function()
    local none, words, code = lfs.attributes("box/none")
    assert.is_nil(none)
    assert.equal("cannot obtain information from file 'box/none': No such file or directory", words)
    assert.equal(2, code)
    assert.is_nil((lfs.attributes("box/none", "mode")))
    assert.has_error(function() lfs.attributes("box", "colour") end,
      "invalid attribute name 'colour'")
    assert.error_matches(function() lfs.attributes() end,
      "bad argument #1 to 'attributes' %(string expected, got no value%)")
  end)

  it("lists a folder by name", function()
    write("box/a.txt", "")
    assert(lfs.mkdir("box/c"))
    local names = {}
    for name in lfs.dir("box") do
      names[#names + 1] = name
    end
    assert.same({ ".", "..", "a.txt", "b.txt", "c" }, names)
    local _, folder = lfs.dir("box")
    assert.equal(".", folder:next())
    folder:close()
    assert.error_matches(function() folder:next() end, "closed directory")
    assert.error_matches(function() lfs.dir("none") end,
      "cannot open none: No such file or directory")
  end)

  it("makes and removes folders", function()
    assert.is_true(lfs.mkdir("box/d"))
    assert.same({ nil, "File exists", 17 }, { lfs.mkdir("box/d") })
    assert.is_true(lfs.rmdir("box/d"))
    assert.same({ nil, "No such file or directory", 2 }, { lfs.rmdir("box/d") })
    assert.is_nil((lfs.rmdir("box")))
  end)

  it("works in another folder", function()
    assert.is_true(lfs.chdir("box"))
    assert.equal(here .. "/box", lfs.currentdir())
    assert(io.open("b.txt")):close()
    local none, words = lfs.chdir("none")
    assert.is_nil(none)
    assert.matches("^Unable to change working directory to 'none'\n", words)
  end)

  it("sets times", function()
    assert.is_true(lfs.touch("box/b.txt", 1000, 2000))
    assert.equal(1000, lfs.attributes("box/b.txt", "access"))
    assert.equal(2000, lfs.attributes("box/b.txt", "modification"))
    assert.is_true(lfs.touch("box/b.txt", 3000))
    assert.equal(3000, lfs.attributes("box/b.txt", "modification"))
    assert.is_true(lfs.touch("box/b.txt"))
    assert.is_true(lfs.attributes("box/b.txt", "modification") > 1e9)
    assert.is_nil((lfs.touch("box/none")))
    assert.is_nil((lfs.touch("box/b.txt", 1e300)))
  end)

  it("follows links or not", function()
    assert.is_true(lfs.link("b.txt", "box/link", true))
    assert.equal("file", lfs.attributes("box/link", "mode"))
    assert.equal("link", lfs.symlinkattributes("box/link", "mode"))
    assert.equal("b.txt", lfs.symlinkattributes("box/link").target)
    assert.equal("b.txt", lfs.symlinkattributes("box/link", "target"))
    assert.is_nil((lfs.symlinkattributes("box/b.txt", "target")))
    assert.is_true(lfs.link("box/b.txt", "box/twin"))
    assert.equal(2, lfs.attributes("box/twin", "nlink"))
  end)

  it("locks a folder", function()
    local lock = assert(lfs.lock_dir("box"))
    local none, words = lfs.lock_dir("box")
    assert.is_nil(none)
    assert.equal("File exists", words)
    assert.is_nil((lfs.lock_dir("box", 1000)))
    lock:free()
    lock:free()
    assert(lfs.lock_dir("box")):free()
  end)

  it("has one mode of files", function()
    local file = assert(io.open("box/b.txt"))
    assert.same({ true, "binary" }, { lfs.setmode(file, "binary") })
    assert.same({ true, "binary" }, { lfs.setmode(file, "text") })
    assert.error_matches(function() lfs.setmode(file, "other") end, "invalid option 'other'")
    file:close()
  end)
end)
