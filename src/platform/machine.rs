//! Facts about the machine, for crash reports and logs: operating system, processor, memory. They
//! name no user and no computer.

use std::sync::OnceLock;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// Text for a fact that the system does not provide.
const UNKNOWN: &str = "unknown";

/// Facts about the machine, as text for people.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFacts {
    /// Name and version of the operating system, and of its kernel.
    pub system: String,
    /// Name of the processor, and the number of its logical cores.
    pub processor: String,
    /// Size of the main memory.
    pub memory: String,
}

/// Returns the facts about this machine. They are read at the first call, which must come before
/// the process is confined.
pub fn facts() -> &'static MachineFacts {
    static FACTS: OnceLock<MachineFacts> = OnceLock::new();
    FACTS.get_or_init(read)
}

fn read() -> MachineFacts {
    let wanted = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let machine = System::new_with_specifics(wanted).ok();
    let name = System::long_os_version().unwrap_or_else(|_| UNKNOWN.to_string());
    let kernel = System::kernel_version();
    let kernel = kernel.map_or(String::new(), |kernel| format!(", kernel {kernel}"));
    let cpus = machine.as_ref().map_or(&[][..], System::cpus);
    let brand = cpus.first().map_or("", |cpu| cpu.brand().trim());
    let brand = if brand.is_empty() { std::env::consts::ARCH } else { brand };
    let memory = match machine.as_ref().map_or(0, System::total_memory) {
        0 => UNKNOWN.to_string(),
        bytes => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    };
    MachineFacts {
        system: one_line(&format!("{name}{kernel}")),
        processor: one_line(&match cpus.len() {
            0 => brand.to_string(),
            1 => format!("{brand}, 1 core"),
            cores => format!("{brand}, {cores} cores"),
        }),
        memory,
    }
}

/// Replaces control characters, so that a fact is a line of its report.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_known_and_take_one_line_each() {
        let facts = facts();
        for text in [&facts.system, &facts.processor, &facts.memory] {
            assert!(!text.is_empty() && !text.contains('\n'), "{facts:?}");
        }
        assert!(facts.processor.contains(" core"), "{facts:?}");
        #[cfg(target_os = "linux")]
        assert!(facts.memory.ends_with(" GiB") && facts.system.contains("kernel"), "{facts:?}");
    }
}
