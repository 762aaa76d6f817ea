//! Splitting a large job into pieces of equal size; the last piece takes the remainder. After the
//! particle step of the tasks in Mick West's "Multithreading Particle Systems" (Game Developer,
//! April 2006).

use std::ops::Range;

/// Maximum pieces per thread of a large job. With several pieces, a thread with a slow piece does
/// not keep all others waiting.
pub const PIECES_PER_THREAD_MAX: usize = 5;

/// Splits `0..n` into at most [`PIECES_PER_THREAD_MAX`] nonempty pieces for each thread. A single
/// thread gets one piece, because no other thread shares the work.
///
/// The work on one piece must not depend on the bounds of the others. Then its results are the same
/// for every number of threads. A sum over pieces violates this, because floating-point sums depend
/// on their order. For sums, split by a fixed number instead, and add the pieces in order.
pub fn split(n: usize, threads: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    let pieces = if threads <= 1 { 1 } else { PIECES_PER_THREAD_MAX * threads };
    let pieces = pieces.min(n);
    let step = n.checked_div(pieces).unwrap_or(0);
    (0..pieces).map(move |i| step * i..if i + 1 == pieces { n } else { step * (i + 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_equal_steps_and_the_last_takes_the_remainder() {
        let pieces = |n, threads| split(n, threads).collect::<Vec<_>>();
        assert_eq!(pieces(0, 4), []);
        assert_eq!(pieces(3, 4), [0..1, 1..2, 2..3]);
        for threads in [0, 1] {
            assert_eq!(pieces(1000, threads), std::slice::from_ref(&(0..1000)));
        }
        let ten = pieces(109, 2);
        assert_eq!((ten.len(), ten[0].clone(), ten[9].clone()), (10, 0..10, 90..109));
    }

    #[test]
    fn pieces_cover_the_range_once_and_none_is_empty() {
        for n in 0..200 {
            for threads in 1..9 {
                let mut next = 0;
                for piece in split(n, threads) {
                    assert_eq!(piece.start, next);
                    assert!(piece.end > piece.start);
                    next = piece.end;
                }
                assert_eq!(next, n);
                assert!(split(n, threads).len() <= PIECES_PER_THREAD_MAX * threads);
            }
        }
    }
}
