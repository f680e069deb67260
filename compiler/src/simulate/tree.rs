//! The first of many positions that has enough of everything.

/// So much of each resource: cpus, bytes of memory, GPUs in ten-thousandths, bytes of memory of a
/// GPU.
pub(super) type Amounts = [u64; 4];

/// Amounts by position: a binary tree whose inner nodes have the largest of each amount below.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    len: usize,
    /// The root at 1, the two below `i` at `2i` and `2i + 1`, positions in the last half.
    nodes: Vec<Amounts>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            len: 0,
            nodes: vec![Amounts::default(); 2],
        }
    }
}

impl Tree {
    /// The largest of each amount.
    pub(super) fn largest(&self) -> Amounts {
        self.nodes[1]
    }

    /// Adds a position, the last.
    pub(super) fn push(&mut self, amounts: Amounts) {
        if self.len == self.width() {
            let width = 2 * self.width();
            let positions = self.nodes.split_off(self.width());
            self.nodes = vec![Amounts::default(); 2 * width];
            self.nodes[width..width + self.len].copy_from_slice(&positions);
            (1..width).rev().for_each(|node| self.merge(node));
        }
        self.len += 1;
        self.set(self.len - 1, amounts);
    }

    /// Changes the amounts at a position.
    pub(super) fn set(&mut self, position: usize, amounts: Amounts) {
        let mut node = self.width() + position;
        self.nodes[node] = amounts;
        while node > 1 {
            node /= 2;
            self.merge(node);
        }
    }

    /// The first position, from one on, that has at least so much of each.
    pub(super) fn first(&self, from: usize, least: &Amounts) -> Option<usize> {
        let found = self.below(1, 0, self.width(), from, least);
        found.filter(|position| *position < self.len)
    }

    /// The first of the `width` positions below a node, the first of which is `start`.
    fn below(
        &self,
        node: usize,
        start: usize,
        width: usize,
        from: usize,
        least: &Amounts,
    ) -> Option<usize> {
        let mut both = self.nodes[node].iter().zip(least);
        if start + width <= from || both.any(|(amount, least)| amount < least) {
            return None;
        }
        if width == 1 {
            return Some(start);
        }
        let half = width / 2;
        self.below(2 * node, start, half, from, least)
            .or_else(|| self.below(2 * node + 1, start + half, half, from, least))
    }

    fn merge(&mut self, node: usize) {
        let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
        self.nodes[node] = larger(left, right);
    }

    /// How many positions there is room for.
    fn width(&self) -> usize {
        self.nodes.len() / 2
    }
}

/// The larger of each amount.
pub(super) fn larger(mut one: Amounts, other: Amounts) -> Amounts {
    for (amount, other) in one.iter_mut().zip(other) {
        *amount = (*amount).max(other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_that_of_a_search_in_order() {
        let mut tree = Tree::default();
        let mut list: Vec<Amounts> = Vec::new();
        // A linear congruential generator; small amounts, so that many are equal.
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (state >> 33) % below
        };
        for _ in 0..2_000 {
            let mut amounts = || [random(4), random(4), random(2), random(2)];
            let (new, least) = (amounts(), amounts());
            if list.is_empty() || random(3) == 0 {
                tree.push(new);
                list.push(new);
            } else {
                let position = random(list.len() as u64) as usize;
                tree.set(position, new);
                list[position] = new;
            }
            let from = random(list.len() as u64 + 1) as usize;
            let is_enough = |position: &usize| (0..4).all(|i| list[*position][i] >= least[i]);
            let expected = (from..list.len()).find(is_enough);
            assert_eq!(tree.first(from, &least), expected);
            let largest = list.iter().copied().fold([0; 4], larger);
            assert_eq!(tree.largest(), largest);
        }
    }
}
