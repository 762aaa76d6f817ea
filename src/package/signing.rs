//! Signing of packages by other programs, such as osslsigncode and rcodesign. Only the command line
//! names such a program, never a file of a game. Keys stay with the program.

use engine_foundation::{Error, error};
use std::path::Path;
use std::process::Command;

/// Maximum number of parts of a command.
const PARTS_MAX: usize = 100;
const IN: &str = "{in}";
const OUT: &str = "{out}";

/// A program that reads a file or a folder and writes its signed copy.
#[derive(Clone, Debug, PartialEq)]
pub struct SigningTool {
    program: String,
    /// `{in}` and `{out}` stand for the two paths.
    arguments: Vec<String>,
}

impl SigningTool {
    /// Parses a command: parts that are separated by spaces, with double quotes around parts that
    /// have spaces. No shell reads it.
    ///
    /// # Errors
    /// Returns an error if it is empty, if a quote is not closed, or if `{in}` or `{out}` is
    /// missing.
    pub fn parse(command: &str) -> Result<SigningTool, String> {
        let mut parts = split(command)?.into_iter();
        let program = parts.next().ok_or("the command is empty: name a program")?;
        let arguments: Vec<String> = parts.collect();
        for name in [IN, OUT] {
            if !arguments.iter().any(|argument| argument.contains(name)) {
                return Err(format!(
                    "the command '{command}' has no {name}: write {IN} and {OUT} where the program \
                     takes the paths of the unsigned and the signed file"
                ));
            }
        }
        if arguments.len() > PARTS_MAX {
            return Err(format!("the command has more than {PARTS_MAX} parts (PARTS_MAX)"));
        }
        Ok(SigningTool { program, arguments })
    }

    /// Runs the program, which must create `output`.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started, fails, or creates nothing.
    pub fn sign(&self, input: &Path, output: &Path) -> Result<(), Error> {
        let program = &self.program;
        let [input, output_path] = [input, output].map(|path| path.to_str());
        let (Some(input), Some(output_path)) = (input, output_path) else {
            return Err(error!("the path of the output is not UTF-8, which signing needs"));
        };
        let argument = |text: &String| text.replace(IN, input).replace(OUT, output_path);
        let status = Command::new(program)
            .args(self.arguments.iter().map(argument))
            .status()
            .map_err(|reason| error!("the signing tool '{program}' cannot be started: {reason}"))?;
        if !status.success() {
            return Err(error!(
                "the signing tool '{program}' failed ({status}); no package was written"
            ));
        }
        if std::fs::symlink_metadata(output).is_err() {
            return Err(error!("the signing tool '{program}' wrote no {OUT}"));
        }
        Ok(())
    }
}

fn split(command: &str) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let (mut part, mut inside, mut quoted) = (String::new(), false, false);
    for c in command.chars() {
        match c {
            '"' => (inside, quoted) = (true, !quoted),
            c if c.is_whitespace() && !quoted => {
                if inside {
                    parts.push(std::mem::take(&mut part));
                }
                inside = false;
            }
            c => {
                inside = true;
                part.push(c);
            }
        }
    }
    if quoted {
        return Err(format!("the command '{command}' has a quote that is not closed"));
    }
    if inside {
        parts.push(part);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_split_without_a_shell() {
        let tool =
            SigningTool::parse("sign  -n \"My Game; rm\" \"\" -in {in} --out={out}").unwrap();
        assert_eq!(tool.program, "sign");
        assert_eq!(tool.arguments, ["-n", "My Game; rm", "", "-in", "{in}", "--out={out}"]);
        let refused = |command: &str| SigningTool::parse(command).unwrap_err();
        assert_eq!(refused("  "), "the command is empty: name a program");
        assert_eq!(refused("a \"b"), "the command 'a \"b' has a quote that is not closed");
        assert!(refused("sign {in}").starts_with("the command 'sign {in}' has no {out}: write"));
        let long = format!("sign {{in}} {{out}}{}", " x".repeat(PARTS_MAX));
        assert_eq!(refused(&long), "the command has more than 100 parts (PARTS_MAX)");
    }

    #[cfg(unix)]
    #[test]
    fn failing_tools_are_reported() {
        let sign = |command: &str| {
            let out = std::env::temp_dir().join(format!("engine-{}-sign", std::process::id()));
            SigningTool::parse(command).unwrap().sign(Path::new("/dev/null"), &out)
        };
        let message = sign("/no/such/tool {in} {out}").unwrap_err().message;
        assert!(message.starts_with("the signing tool '/no/such/tool' cannot be started: "));
        let message = sign("false {in} {out}").unwrap_err().message;
        let wanted = "the signing tool 'false' failed (exit status: 1); no package was written";
        assert_eq!(message, wanted);
        let message = sign("true {in} {out}").unwrap_err().message;
        assert_eq!(message, "the signing tool 'true' wrote no {out}");
    }
}
