//! Properties of the data model with random operations: inverses, order, replicas, documents.
//! `MODEL_CASES` sets the number of cases, for a long search.

use super::*;
use engine_foundation::sjson::parse;

/// A generator of random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn guid(&mut self) -> Guid {
        Guid([0, self.roll(4) as u64])
    }

    fn value(&mut self) -> Value {
        match self.roll(7) {
            0 => Value::Null,
            1 => Value::Bool(self.roll(2) == 0),
            2 => Value::Number(self.roll(3) as f64),
            3 => Value::String(["a", "b"][self.roll(2)].into()),
            4 => Value::Blob([self.roll(2) as u8][..].into()),
            5 => Value::Reference(self.guid()),
            _ => Value::Set(Box::new((0..self.roll(3)).map(|_| self.guid()).collect())),
        }
    }

    fn operation(&mut self, keys: &[Key]) -> Operation {
        let (object, key) = (self.guid(), keys[self.roll(keys.len())]);
        let change = match self.roll(3) {
            0 => Change::Set(self.value()),
            1 => Change::Add(self.guid()),
            _ => Change::Remove(self.guid()),
        };
        Operation { object, key, change }
    }
}

fn cases(default: usize) -> usize {
    let cases = std::env::var("MODEL_CASES").ok().and_then(|text| text.parse().ok());
    cases.unwrap_or(default)
}

/// Returns a model with some keys and random values.
fn model(dice: &mut Dice) -> (Model, Vec<Key>) {
    let mut model = Model::new();
    let keys: Vec<Key> = ["x", "y", "z"].iter().map(|text| model.key(text).unwrap()).collect();
    for _ in 0..dice.roll(8) {
        let operation = dice.operation(&keys);
        model.apply(operation);
    }
    (model, keys)
}

#[test]
fn inverses_restore_and_differences_apply() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..cases(20_000) {
        let (before, keys) = model(&mut dice);
        let mut after = before.clone();
        let mut inverses = Vec::new();
        for _ in 0..dice.roll(6) {
            inverses.push(after.apply(dice.operation(&keys)));
        }
        let mut back = after.clone();
        for inverse in inverses.into_iter().rev() {
            back.apply(inverse);
        }
        assert!(back == before, "{back:?} {before:?}");
        let mut same = before.clone();
        for operation in same.difference(&after).unwrap() {
            same.apply(operation);
        }
        assert!(same == after, "{same:?} {after:?}");
    }
}

#[test]
fn independent_operations_commute() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for _ in 0..cases(20_000) {
        let (model, keys) = model(&mut dice);
        let (one, two) = (dice.operation(&keys), dice.operation(&keys));
        let is_same_value = (one.object, one.key) == (two.object, two.key);
        let members = [&one.change, &two.change].map(|change| match change {
            Change::Add(member) | Change::Remove(member) => Some(*member),
            Change::Set(_) => None,
        });
        let is_dependent = is_same_value
            && match members {
                [Some(one), Some(two)] => one == two,
                _ => true,
            };
        if is_dependent {
            continue;
        }
        let (mut there, mut back) = (model.clone(), model.clone());
        there.apply(one.clone());
        there.apply(two.clone());
        back.apply(two);
        back.apply(one);
        assert!(there == back, "{there:?} {back:?}");
    }
}

#[test]
fn replicas_with_one_order_converge() {
    let mut dice = Dice(0xd1b5_4a32_d192_ed03);
    for _ in 0..cases(2_000) {
        let (start, keys) = model(&mut dice);
        let mut replicas: Vec<Replica> =
            (0..3).map(|author| Replica::new(author, start.clone())).collect();
        // The shared order, and how much of it each replica has received.
        let mut order: Vec<Committed> = Vec::new();
        let mut received = [0; 3];
        for _ in 0..30 {
            let at = dice.roll(3);
            match dice.roll(4) {
                0 => {
                    let parity = dice.roll(2) as u64;
                    order.extend(replicas[at].commit(|number| number % 2 == parity));
                }
                1 => {
                    let end = received[at] + dice.roll(order.len() - received[at] + 1);
                    replicas[at].receive(order[received[at]..end].iter().cloned());
                    received[at] = end;
                }
                _ => {
                    replicas[at].change(dice.operation(&keys));
                }
            }
        }
        for replica in &mut replicas {
            order.extend(replica.commit(|_| true));
        }
        for (replica, from) in replicas.iter_mut().zip(received) {
            replica.receive(order[from..].iter().cloned());
            assert_eq!(replica.local().count(), 0);
        }
        let mut alone = start;
        order.into_iter().for_each(|committed| _ = alone.apply(committed.operation));
        assert!(replicas.iter().all(|replica| *replica.model() == alone));
    }
}

#[test]
fn undone_histories_restore_the_model() {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    for _ in 0..cases(5_000) {
        let (start, keys) = model(&mut dice);
        let (mut model, mut history) = (start.clone(), History::default());
        for _ in 0..dice.roll(12) {
            if dice.roll(3) == 0 {
                history.begin();
            }
            history.apply(&mut model, dice.operation(&keys));
        }
        let end = model.clone();
        while history.undo(&mut model).is_some() {}
        assert!(model == start);
        while history.redo(&mut model).is_some() {}
        assert!(model == end);
    }
}

fn value_text(dice: &mut Dice, depth: usize) -> String {
    match dice.roll(if depth < 3 { 8 } else { 5 }) {
        0 => "null".to_string(),
        1 => "true".to_string(),
        2 => format!("{}.50", dice.roll(3)),
        3 => "\"t\"".to_string(),
        4 => format!("{}", dice.roll(3)),
        5 => {
            let items: Vec<String> =
                (0..dice.roll(4)).map(|_| value_text(dice, depth + 1)).collect();
            format!("[{}]", items.join(["", ", ", "  "][1 + dice.roll(2)]))
        }
        6 => {
            let items: Vec<String> = (0..dice.roll(4))
                .filter(|_| dice.roll(4) > 0)
                .collect::<Vec<_>>()
                .into_iter()
                .map(|id| format!("{{ id = \"{id}\" v = {} }}", value_text(dice, depth + 1)))
                .collect();
            format!("[{}]", items.join("\n  // next\n"))
        }
        _ => {
            let mut text = String::from("{");
            for key in ["a", "b", "#c"] {
                if dice.roll(2) == 0 {
                    text += &format!(" {key} = {}\n", value_text(dice, depth + 1));
                }
            }
            text + "}"
        }
    }
}

fn document_text(dice: &mut Dice) -> String {
    let mut text = String::from("// The file.\n");
    for key in ["a", "b", "c", "d"] {
        if dice.roll(3) > 0 {
            text += &format!("{key} = {} // {key}\n", value_text(dice, 0));
        }
    }
    text
}

#[test]
fn documents_keep_bytes_and_take_the_values_of_a_model() {
    let mut dice = Dice(0x0bad_cafe_dead_beef);
    for _ in 0..cases(4_000) {
        let (old, new) = (document_text(&mut dice), document_text(&mut dice));
        let loaded = |text: &str| {
            let mut model = Model::new();
            load(&mut model, Guid::ROOT, &parse(text).unwrap()).unwrap();
            model
        };
        let same = save(&loaded(&old), Guid::ROOT, parse(&old).unwrap()).unwrap();
        assert_eq!(same.text(), old);
        let model = loaded(&new);
        let changed = save(&model, Guid::ROOT, parse(&old).unwrap()).unwrap();
        let again = loaded(changed.text());
        assert!(again == model, "{old}\n{new}\n{}", changed.text());
        assert!(changed.text().starts_with("// The file."), "{}", changed.text());
    }
}

/// The workload of the model's figure: 1,000,000 operations, each a step of its own, and their
/// undo. A quarter adds to sets of 25 members.
#[test]
fn a_million_operations_are_undone() {
    let count = 1_000_000;
    let mut model = Model::new();
    let keys: Vec<Key> = (0..10).map(|at| model.key(&format!("key {at}")).unwrap()).collect();
    let mut history = History::default();
    let start = std::time::Instant::now();
    for at in 0..count {
        history.begin();
        let (object, change) = match at % 4 {
            0 => (Guid([3, (at / 100) as u64]), Change::Add(Guid([2, at as u64]))),
            _ => (Guid([1, (at / 10) as u64]), Change::Set(Value::Number(at as f64))),
        };
        let key = keys[if at % 4 == 0 { 0 } else { at % 10 }];
        history.apply(&mut model, Operation { object, key, change });
    }
    let applied = start.elapsed();
    assert_eq!(model.len(), count / 10 + count / 100);
    let mut steps = 0;
    while history.undo(&mut model).is_some() {
        steps += 1;
    }
    println!("{count} operations in {applied:?}, undone after {:?}", start.elapsed());
    assert!(model.is_empty() && steps == count);
    assert!(size_of::<Operation>() <= 48 && size_of::<(Key, Value)>() <= 32);
}
