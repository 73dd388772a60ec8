//! Select: the edits that a step may make, best supported first.

use crate::edit::Edit;

/// What was selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selected {
    /// The edits to make, best first.
    pub taken: Vec<Edit>,
    /// Those beyond the learning rate, in their order: recorded, not made.
    pub left: Vec<Edit>,
}

/// Edits by support, most first; at the same support those learnt from failures first, then as they came.
pub fn rank(edits: Vec<Edit>) -> Vec<Edit> {
    let mut ranked = edits;
    // A stable sort: ties stay as they came.
    ranked.sort_by_key(|edit| (std::cmp::Reverse(edit.support), edit.source));
    ranked
}

/// Edits in the order that an optimizer gave by their places (from 0). A place that there is not, or that was named
/// before, is passed over; edits that it does not name follow by [`rank`].
pub fn rank_as(edits: Vec<Edit>, order: &[usize]) -> Vec<Edit> {
    let mut slots: Vec<Option<Edit>> = edits.into_iter().map(Some).collect();
    let mut ranked: Vec<Edit> = order.iter().filter_map(|place| slots.get_mut(*place)?.take()).collect();
    ranked.extend(rank(slots.into_iter().flatten().collect()));
    ranked
}

/// Clips ranked edits to the learning rate: at most `budget` edits, 0 takes none, none means no bound.
pub fn clip(ranked: Vec<Edit>, budget: Option<usize>) -> Selected {
    let mut taken = ranked;
    let left = taken.split_off(budget.unwrap_or(usize::MAX).min(taken.len()));
    Selected { taken, left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Op, Source};

    fn edits() -> Vec<Edit> {
        let edit = |card: &str, support, source| Edit {
            card: card.into(),
            op: Op::Remove,
            reason: String::new(),
            support,
            source,
        };
        use Source::{Failures, Successes};
        vec![edit("a", 1, Failures), edit("b", 3, Successes), edit("c", 3, Failures), edit("d", 1, Failures)]
    }

    fn names(edits: &[Edit]) -> String {
        edits.iter().map(|edit| edit.card.as_str()).collect()
    }

    #[test]
    fn support_decides_then_failures_then_the_order() {
        assert_eq!(names(&rank(edits())), "cbad");
        let selected = clip(rank(edits()), Some(3));
        assert_eq!((names(&selected.taken), names(&selected.left)), ("cba".into(), "d".into()));
    }

    #[test]
    fn an_optimizers_order_may_be_wrong_in_any_way() {
        assert_eq!(names(&rank_as(edits(), &[3, 3, 99, 0])), "dacb");
        assert_eq!(names(&rank_as(edits(), &[])), "cbad");
    }

    #[test]
    fn a_budget_of_0_applies_nothing_and_none_is_no_bound() {
        assert_eq!(names(&clip(rank(edits()), Some(0)).taken), "");
        assert_eq!(clip(rank(edits()), None).taken.len(), 4);
        assert_eq!(clip(Vec::new(), Some(4)), Selected::default());
    }
}
