//! Instances of graphs: the dynamic data of each, in slots that are copied from the template of its
//! program. Instances of one graph share the program.

use super::value::Slot;
use engine_foundation::Handle;

/// Maximum number of instances.
pub const INSTANCES_MAX: usize = 1 << 20;
const INDEX_BITS: u32 = 24;

/// Number of an instance. It is never used again for another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(u64);

impl InstanceId {
    /// Returns the number for scripts and tools, which a double stores exactly.
    pub fn to_number(self) -> f64 {
        self.0 as f64
    }

    /// Returns the instance with a number; it may not exist.
    pub fn from_number(number: f64) -> Option<InstanceId> {
        let valid = number >= 1.0 && number < (1u64 << 53) as f64 && number.fract() == 0.0;
        valid.then_some(InstanceId(number as u64))
    }

    fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

/// One instance of a graph.
pub struct Instance {
    /// The slots: owner, variables, outputs and states of nodes.
    pub slots: Box<[Slot]>,
    /// Unit or level to which the graph belongs.
    pub owner: Handle,
    /// Index of the program.
    pub program: u32,
    /// Number of timelines that play.
    pub playing: u32,
    /// True while the instance is in the list of those that updates visit.
    pub active: bool,
}

#[derive(Default)]
struct Entry {
    generation: u32,
    instance: Option<Instance>,
}

/// All instances.
#[derive(Default)]
pub struct Instances {
    entries: Vec<Entry>,
    free: Vec<u32>,
    count: usize,
}

impl Instances {
    /// Adds an instance; `None` if `INSTANCES_MAX` exist.
    pub fn add(&mut self, instance: Instance) -> Option<InstanceId> {
        let index = match self.free.pop() {
            Some(index) => index as usize,
            None if self.entries.len() >= INSTANCES_MAX => return None,
            None => {
                self.entries.push(Entry::default());
                self.entries.len() - 1
            }
        };
        let entry = &mut self.entries[index];
        entry.generation += 1;
        entry.instance = Some(instance);
        self.count += 1;
        Some(InstanceId(u64::from(entry.generation) << INDEX_BITS | index as u64))
    }

    /// Removes an instance and returns it.
    pub fn remove(&mut self, id: InstanceId) -> Option<Instance> {
        let entry = self.entry_mut(id)?;
        let instance = entry.instance.take()?;
        // A slot whose generations are used up is retired.
        let retired = entry.generation >= (1 << (53 - INDEX_BITS)) - 1;
        if !retired {
            self.free.push(id.index() as u32);
        }
        self.count -= 1;
        Some(instance)
    }

    fn entry_mut(&mut self, id: InstanceId) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(id.index())?;
        (u64::from(entry.generation) == id.0 >> INDEX_BITS).then_some(entry)
    }

    #[inline(always)]
    pub fn get(&self, id: InstanceId) -> Option<&Instance> {
        let entry = self.entries.get(id.index())?;
        let current = u64::from(entry.generation) == id.0 >> INDEX_BITS;
        entry.instance.as_ref().filter(|_| current)
    }

    #[inline(always)]
    pub fn get_mut(&mut self, id: InstanceId) -> Option<&mut Instance> {
        self.entry_mut(id)?.instance.as_mut()
    }

    /// Returns all instances in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (InstanceId, &Instance)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| {
            let id = InstanceId(u64::from(entry.generation) << INDEX_BITS | index as u64);
            entry.instance.as_ref().map(|instance| (id, instance))
        })
    }

    /// Returns the number of instances.
    pub fn len(&self) -> usize {
        self.count
    }
}

/// Returns the bytes of an instance in addition to its slots.
pub const fn instance_bytes() -> usize {
    size_of::<Entry>()
}
