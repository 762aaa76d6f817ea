//! Upper bounds of the cost of a pattern, as a function of the subject's length. Reads compiled
//! patterns; matches nothing.

use super::{ByteClass, DEPTH_MAX, PatternItem, Repetition, compile};

/// Returns the length in bytes of the longest subject on which a matcher without a budget stays
/// within `steps` steps for this pattern, in a whole search from every start (one find, or all
/// matches of one gsub). The estimate is an upper bound of the work, exact to a small factor. If an
/// item cannot be followed by what it repeats (`%w+%s`), no choices multiply, and the bound takes
/// this into account. Returns 0 if the pattern is too long.
pub fn direct_bytes_max(pattern: &[u8], steps: f64) -> usize {
    let Ok((anchored, items)) = compile(pattern) else {
        return 0;
    };
    let mut cost = items.iter().rev().fold(CostPolynomial::END, CostPolynomial::prepend);
    if !anchored {
        cost.shift();
    }
    // A plain search of the same text tests every byte of the pattern at every start.
    let plain = (steps / pattern.len().max(1) as f64) as usize;
    let (mut low, mut high) = (0, plain.min(i32::MAX as usize));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if cost.steps(middle as f64) <= steps {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Maximum cost of trying the rest of a pattern at one offset, as a polynomial in the `n` bytes
/// left: the sum of `terms[d] * C(n + d, d)`. In that basis "the rest, tried after each possible
/// count of repeats" is a shift by one: the sum of `C(n - j + d, d)` over `j` is `C(n + d + 1, d +
/// 1)`.
struct CostPolynomial {
    terms: Vec<f64>,
    /// Steps for each byte that becomes part of a match: paid once in a search, not at every start.
    matched: f64,
    /// The bytes that can come next. With any other byte the rest fails at the cost `failed`.
    first: ByteClass,
    failed: f64,
    /// True if the rest matches at every offset, so that it is tried only once.
    accepts: bool,
    /// True if the rest matches at the end of the subject.
    accepts_end: bool,
}

impl CostPolynomial {
    const END: CostPolynomial = CostPolynomial {
        terms: Vec::new(),
        matched: 0.0,
        first: ByteClass::ANY,
        failed: 1.0,
        accepts: true,
        accepts_end: true,
    };

    fn steps(&self, n: f64) -> f64 {
        let mut choose = 1.0;
        let mut sum = 1.0 + self.matched * n;
        for (d, term) in self.terms.iter().enumerate() {
            sum += term * choose;
            choose *= (n + d as f64 + 1.0) / (d as f64 + 1.0);
        }
        sum
    }

    fn add(&mut self, degree: usize, steps: f64) {
        if self.terms.len() <= degree {
            self.terms.resize(degree + 1, 0.0);
        }
        self.terms[degree] += steps;
    }

    fn shift(&mut self) {
        self.add(0, 1.0);
        if self.terms.len() > DEPTH_MAX as usize {
            // The matcher does not nest this many choices, so the pattern never runs without a
            // budget.
            return self.add(0, f64::INFINITY);
        }
        self.terms.insert(0, 0.0);
    }

    fn require_first(&mut self, first: ByteClass, failed: f64) {
        (self.first, self.failed) = (first, failed);
        (self.accepts, self.accepts_end) = (false, false);
    }

    /// Returns the cost of `item` followed by this rest.
    fn prepend(mut self, item: &PatternItem) -> CostPolynomial {
        match item {
            PatternItem::Single(class, repeat) => self.prepend_single(class, *repeat),
            PatternItem::Open | PatternItem::Position | PatternItem::Close => {
                self.add(0, 1.0);
                self.failed += 1.0;
            }
            PatternItem::Balance(open, _) => {
                self.add(1, 1.0);
                self.require_first(ByteClass::one(*open), 1.0);
            }
            PatternItem::Frontier(class) => {
                self.add(0, 2.0 * class.cost);
                let first = class.combine(&self.first, |a, b| a & b);
                self.require_first(first, self.failed + 2.0 * class.cost);
            }
            PatternItem::BackReference(_) => {
                self.add(1, 1.0 / 16.0);
                self.require_first(ByteClass::ANY, 1.0);
            }
            PatternItem::SubjectEnd => {
                self.add(0, 1.0);
                self.require_first(ByteClass::NONE, 1.0);
                self.accepts_end = true;
            }
            // A matcher that reaches this item raises an error, and that ends the search.
            PatternItem::Malformed(_) => return CostPolynomial::END,
        }
        self
    }

    fn prepend_single(&mut self, class: &ByteClass, repeat: Repetition) {
        let sure = self.accepts || class.is_disjoint(&self.first);
        match repeat {
            Repetition::Once => self.add(0, class.cost),
            Repetition::Maybe => {
                if !sure {
                    self.terms.iter_mut().for_each(|term| *term *= 2.0);
                }
                let again = if self.accepts { 0.0 } else { self.failed };
                self.add(0, class.cost + again);
            }
            Repetition::Star | Repetition::Plus | Repetition::Lazy if self.accepts => {
                self.matched += class.cost;
                self.add(0, class.cost);
            }
            Repetition::Star | Repetition::Plus | Repetition::Lazy => {
                if !sure {
                    self.shift();
                }
                self.add(1, class.cost + self.failed);
            }
        }
        if matches!(repeat, Repetition::Once | Repetition::Plus) {
            self.require_first(*class, class.cost);
        } else {
            // `.-` and `.*` can always reach the end of the subject.
            self.accepts |= class.is_any() && repeat != Repetition::Maybe && self.accepts_end;
            self.first = class.combine(&self.first, |a, b| a | b);
            self.failed += class.cost;
        }
    }
}
