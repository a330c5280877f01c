//! FABA for aggregates and hierarchies: tokens shared by classes by weight, level by level.

use alloc::vec::Vec;

use super::flow_table::FlowTable;
use super::token_fifo::{BucketLevel, Refund, Tokens};
use super::token_pool::{TokenDistribution, TokenPool, clamp_to_grain, draw_count};
use super::weights::Weights;
use crate::discipline::Class;
use crate::packet::{ClassId, FlowId};
use crate::params::BuildError;
use crate::rng::Rng;

/// A tree of classes (FABA paper, sections 6.1 to 6.3). A leaf class has a bucket, or a [`TokenPool`] if its flows are
/// distinguished. A class is active while it has a bucket or an active descendant. Its height is its share, by weight
/// among active siblings, of its parent's height. The root's height is the total of tokens.
///
/// The children of a node form a level. Each level has its own spare tokens, so the tokens of a deleted bucket are
/// shared among its siblings. Tokens move a level up if a class and its descendants exceed its height, or if none of
/// them is active. A departing packet's tokens start at the root and move down, at each level to a child drawn by
/// weight.
#[derive(Clone, Debug)]
pub struct TokenTree {
    nodes: Vec<ClassNode>,
    /// The leaf node of each class.
    leaves: Vec<usize>,
    total: Tokens,
}

#[derive(Clone, Debug)]
struct ClassNode {
    parent: usize,
    /// Its number among its siblings.
    rank: usize,
    weight: u64,
    children: Vec<usize>,
    active: Weights,
    /// Spare tokens among its children; for a bucket, its tokens.
    tokens: Tokens,
    /// Tokens of this node and its descendants; unused for the root.
    content: Tokens,
    flows: Option<TokenPool>,
}

impl ClassNode {
    fn bytes(&self) -> usize {
        let pool = self.flows.as_ref().map_or(0, |_| FlowTable::<()>::EMPTY_BYTES);
        // Two words of `active` for each child, and one more.
        let words = self.children.capacity() + 2 * self.children.len() + 1;
        size_of::<ClassNode>() + size_of::<u64>() * words + pool
    }
}

/// The bucket that pays for a packet, valid until the next call.
#[derive(Clone, Copy, Debug)]
pub struct BucketId {
    leaf: usize,
    position: usize,
}

const ROOT: usize = 0;
/// Upper bound of scaled weights. The scaled weight of the heaviest sibling is above half of this.
const MAX_WEIGHT: f64 = (1u64 << 32) as f64;

impl TokenTree {
    /// A tree of `classes` sharing `total`; with `flows`, leaf classes distinguish at most that many, hashed under
    /// `key`.
    ///
    /// # Errors
    /// [`BuildError::Conflict`] if a weight is not above zero and finite, or a parent not before its child.
    pub fn new(classes: &[Class], total: Tokens, flows: Option<u32>, key: u64) -> Result<TokenTree, BuildError> {
        for (number, Class { parent, weight }) in classes.iter().enumerate() {
            let after = parent.is_some_and(|parent| usize::from(parent.0) >= number);
            if after || !weight.is_finite() || *weight <= 0.0 {
                let why = "needs a weight above zero and a parent of a smaller number";
                return Err(BuildError::Conflict(alloc::format!("class {number} {why}")));
            }
        }
        // Node 0 is the root, node i + 1 is class i. Without classes there is one for all packets.
        let unclassified = [Class { parent: None, weight: 1.0 }];
        let classes = if classes.is_empty() { &unclassified } else { classes };
        let mut parents: Vec<(usize, f64)> = alloc::vec![(ROOT, 1.0)];
        parents.extend(classes.iter().map(|c| (c.parent.map_or(ROOT, |p| usize::from(p.0) + 1), c.weight)));
        // Packets of a class with children pay at an extra leaf of weight 1.
        let mut leaves: Vec<usize> = (1..=classes.len()).collect();
        for leaf in &mut leaves {
            if parents[1..=classes.len()].iter().any(|(parent, _)| parent == leaf) {
                parents.push((*leaf, 1.0));
                *leaf = parents.len() - 1;
            }
        }
        Ok(TokenTree { nodes: nodes(&parents, flows, key, total), leaves, total })
    }

    /// Bytes of the tree without buckets of flows.
    pub fn bytes(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(ClassNode::bytes).sum();
        size_of::<TokenTree>() + nodes + size_of_val(&*self.leaves)
    }

    /// Finds or creates the bucket for a packet of `flow` and `class`, and returns its tokens and height. A new bucket
    /// is full. An existing bucket above its height gives the excess to the spare tokens of its level. Unknown classes
    /// count as class 0.
    pub fn find_or_create(&mut self, flow: FlowId, class: ClassId, rng: &mut Rng) -> (BucketId, BucketLevel) {
        let leaf = self.leaf(class);
        if !self.is_active(leaf) {
            self.activate(leaf);
        }
        let height = self.height(leaf);
        if let Some(pool) = &mut self.nodes[leaf].flows {
            pool.set_total(height);
            let (position, level) = pool.find_or_create(flow, rng);
            return (BucketId { leaf, position }, level);
        }
        let excess = (self.nodes[leaf].tokens - height).max(0);
        self.move_up(leaf, excess);
        (BucketId { leaf, position: 0 }, BucketLevel { tokens: self.nodes[leaf].tokens, height })
    }

    /// Moves `tokens` from a bucket to a packet.
    pub fn take(&mut self, bucket: BucketId, tokens: Tokens) {
        let leaf = &mut self.nodes[bucket.leaf];
        match &mut leaf.flows {
            Some(pool) => pool.take(bucket.position, tokens),
            None => leaf.tokens -= tokens,
        }
        let mut at = bucket.leaf;
        while at != ROOT {
            self.nodes[at].content -= tokens;
            at = self.nodes[at].parent;
        }
    }

    /// Gives spare `tokens` to a packet whose bucket does not pay.
    pub fn take_spare(&mut self, tokens: Tokens) {
        self.nodes[ROOT].tokens -= tokens;
    }

    /// Takes back a departing packet's tokens and moves spare tokens from the root down. Each level gives tokens to a
    /// few random children, as [`TokenPool::give_back`] does to buckets. The walk continues below the last child drawn.
    /// Draws at most four buckets or classes per level.
    pub fn give_back(&mut self, refund: Refund, rng: &mut Rng) -> TokenDistribution {
        self.nodes[ROOT].tokens += refund.carried;
        let (mut level, mut done) = (Some(ROOT), TokenDistribution::default());
        while let Some(at) = level.take() {
            let height = self.height(at);
            if let Some(pool) = &mut self.nodes[at].flows {
                pool.set_total(height);
                let among_flows = pool.give_back(Refund { carried: 0, ..refund }, rng);
                done.drawn += among_flows.drawn;
                done.tokens += among_flows.tokens;
                if pool.flows() == 0 {
                    self.deactivate(at);
                }
                break;
            }
            for draw in 0..draw_count(self.nodes[at].tokens, refund) {
                let ClassNode { active, children, tokens, .. } = &self.nodes[at];
                // Draws at least once: a lower level may have spare tokens.
                if active.total() == 0 || (*tokens == 0 && draw > 0) {
                    break;
                }
                let child = children[active.draw(rng)];
                done.drawn += 1;
                match self.settle(child, refund.grain) {
                    Some(tokens) => done.tokens += tokens,
                    None => level = Some(child),
                }
            }
        }
        done
    }

    /// Moves spare tokens from the level of `child` to the child, or back if negative; at most a grain. Returns the
    /// tokens moved to a bucket, or `None` if the child has a level of its own below it.
    fn settle(&mut self, child: usize, grain: Tokens) -> Option<Tokens> {
        let moved = clamp_to_grain(self.nodes[self.nodes[child].parent].tokens, grain);
        let ClassNode { flows, children, tokens, .. } = &self.nodes[child];
        if flows.is_none() && children.is_empty() {
            let moved = moved.max(-(*tokens).max(0));
            self.move_up(child, -moved);
            if self.nodes[child].tokens > self.height(child) {
                self.deactivate(child);
            }
            return Some(moved);
        }
        self.move_up(child, -moved);
        // Tokens that exceed the class's height and are in no bucket go to its siblings.
        let spare = self.nodes[child].flows.as_ref().map_or(self.nodes[child].tokens, TokenPool::spare);
        self.move_up(child, (self.nodes[child].content - self.height(child)).min(spare).max(0));
        None
    }

    /// Moves `tokens` from `node` to the spare tokens of its level, or back if negative.
    fn move_up(&mut self, node: usize, tokens: Tokens) {
        let from = &mut self.nodes[node];
        match &mut from.flows {
            Some(pool) => pool.take_spare(tokens),
            None => from.tokens -= tokens,
        }
        from.content -= tokens;
        let parent = from.parent;
        self.nodes[parent].tokens += tokens;
    }

    /// Activates `leaf` and its inactive ancestors. Its tokens come from the closest level that was active.
    fn activate(&mut self, leaf: usize) {
        let mut top = leaf;
        loop {
            let ClassNode { parent, rank, weight, .. } = self.nodes[top];
            let alone = self.nodes[parent].active.total() == 0;
            self.nodes[parent].active.set(rank, weight);
            top = parent;
            if parent == ROOT || !alone {
                break;
            }
        }
        let (height, mut at) = (self.height(leaf), leaf);
        while at != top {
            self.move_up(at, -height);
            at = self.nodes[at].parent;
        }
    }

    /// Deactivates the node, and ancestors left without active children. Their tokens move up to an active level.
    fn deactivate(&mut self, node: usize) {
        let mut at = node;
        while at != ROOT {
            let ClassNode { parent, rank, content, .. } = self.nodes[at];
            self.move_up(at, content);
            self.nodes[parent].active.set(rank, 0);
            if self.nodes[parent].active.total() > 0 {
                break;
            }
            at = parent;
        }
    }

    fn leaf(&self, class: ClassId) -> usize {
        *self.leaves.get(usize::from(class.0)).unwrap_or(&self.leaves[0])
    }

    fn is_active(&self, node: usize) -> bool {
        let ClassNode { parent, rank, .. } = self.nodes[node];
        node == ROOT || self.nodes[parent].active.weight(rank) > 0
    }

    fn height(&self, node: usize) -> Tokens {
        let (mut at, mut share) = (node, 1.0);
        while at != ROOT {
            let ClassNode { parent, weight, .. } = self.nodes[at];
            share *= weight as f64 / self.nodes[parent].active.total() as f64;
            at = parent;
        }
        (self.total as f64 * share) as Tokens
    }

    /// All tokens: in buckets, spare, or carried.
    pub fn total(&self) -> Tokens {
        self.total
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        let active = |leaf: &&usize| self.is_active(**leaf);
        self.leaves.iter().filter(active).map(|leaf| self.nodes[*leaf].flows.as_ref().map_or(1, TokenPool::flows)).sum()
    }

    /// Spare tokens on all levels.
    pub fn spare(&self) -> Tokens {
        let levels = self.nodes.iter().filter(|node| !node.children.is_empty()).map(|node| node.tokens);
        levels.sum::<Tokens>() + self.pools().map(TokenPool::spare).sum::<Tokens>()
    }

    /// The tokens in the bucket for `flow` and `class`, if it exists.
    pub fn peek(&self, flow: FlowId, class: ClassId) -> Option<Tokens> {
        let leaf = self.leaf(class);
        match &self.nodes[leaf].flows {
            Some(pool) => pool.peek(flow),
            None => self.is_active(leaf).then_some(self.nodes[leaf].tokens),
        }
    }

    /// The capacity of `class`'s buckets, while it is active.
    pub fn bucket_height(&self, class: ClassId) -> Option<Tokens> {
        let leaf = self.leaf(class);
        let buckets = self.nodes[leaf].flows.as_ref().map_or(1, |pool| pool.flows() as Tokens);
        self.is_active(leaf).then(|| self.height(leaf) / buckets)
    }

    /// The tokens of every bucket.
    pub fn levels(&self) -> impl Iterator<Item = Tokens> {
        let own = self.nodes.iter().filter(|node| node.children.is_empty() && node.flows.is_none());
        own.map(|node| node.tokens).chain(self.pools().flat_map(TokenPool::levels))
    }

    fn pools(&self) -> impl Iterator<Item = &TokenPool> {
        self.nodes.iter().filter_map(|node| node.flows.as_ref())
    }
}

/// Builds the nodes of a tree from each node's parent and weight, the root first.
fn nodes(parents: &[(usize, f64)], flows: Option<u32>, key: u64, total: Tokens) -> Vec<ClassNode> {
    let mut children: Vec<Vec<usize>> = alloc::vec![Vec::new(); parents.len()];
    let mut heaviest = alloc::vec![0.0_f64; parents.len()];
    let mut ranks = alloc::vec![0; parents.len()];
    for (node, (parent, weight)) in parents.iter().enumerate().skip(1) {
        ranks[node] = children[*parent].len();
        children[*parent].push(node);
        heaviest[*parent] = heaviest[*parent].max(*weight);
    }
    let node = |(number, children): (usize, Vec<usize>)| {
        let (parent, weight) = parents[number];
        ClassNode {
            parent,
            rank: ranks[number],
            weight: integer_weight(weight, heaviest[parent]),
            active: Weights::new(children.len()),
            tokens: if number == ROOT { total } else { 0 },
            content: 0,
            flows: flows.filter(|_| children.is_empty()).map(|flows| TokenPool::new(0, flows, key)),
            children,
        }
    };
    children.into_iter().enumerate().map(node).collect()
}

/// `weight` as an integer, for exact sums. The scale is a power of two, so integer weights keep their ratio.
fn integer_weight(weight: f64, heaviest: f64) -> u64 {
    // The scale stays finite.
    let (heaviest, mut scale) = (heaviest.max(1e-200), 1.0);
    while heaviest * scale <= MAX_WEIGHT / 2.0 {
        scale *= 2.0;
    }
    while heaviest * scale > MAX_WEIGHT {
        scale /= 2.0;
    }
    (weight * scale).clamp(1.0, MAX_WEIGHT) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes of weights 1 and 3, the second with children of weights 1 and 2.
    const TREE: [Class; 4] = [
        Class { parent: None, weight: 1.0 },
        Class { parent: None, weight: 3.0 },
        Class { parent: Some(ClassId(1)), weight: 1.0 },
        Class { parent: Some(ClassId(1)), weight: 2.0 },
    ];

    fn tree(flows: Option<u32>) -> (TokenTree, Rng) {
        (TokenTree::new(&TREE, 48, flows, 7).unwrap(), Rng::new(1))
    }

    fn open(tree: &mut TokenTree, class: u16, rng: &mut Rng) -> BucketLevel {
        tree.find_or_create(FlowId(u64::from(class)), ClassId(class), rng).1
    }

    #[test]
    fn heights_are_shares_by_weight_among_active_siblings_at_each_level() {
        let (mut tree, mut rng) = tree(None);
        assert_eq!(open(&mut tree, 2, &mut rng), BucketLevel { tokens: 48, height: 48 });
        assert_eq!(open(&mut tree, 0, &mut rng), BucketLevel { tokens: 12, height: 12 });
        assert_eq!(open(&mut tree, 3, &mut rng), BucketLevel { tokens: 24, height: 24 });
        assert_eq!(open(&mut tree, 2, &mut rng), BucketLevel { tokens: 12, height: 12 });
        // Packets of the class with children have a bucket of weight 1, beside the children's 1 and 2.
        assert_eq!(open(&mut tree, 1, &mut rng), BucketLevel { tokens: 9, height: 9 });
        assert_eq!(open(&mut tree, 99, &mut rng).height, 12, "an unknown class counts as class 0");
        assert_eq!(tree.levels().sum::<Tokens>() + tree.spare(), 48);
    }

    #[test]
    fn tokens_of_a_deleted_bucket_go_to_its_siblings_and_from_the_last_sibling_a_level_up() {
        let (mut tree, mut rng) = tree(None);
        let [_, _, one, two] = [0, 1, 2, 3].map(|class| tree.leaf(ClassId(class)));
        for class in [0, 2, 3, 2] {
            open(&mut tree, class, &mut rng);
        }
        let parent = tree.nodes[two].parent;
        let spare = |tree: &TokenTree| [tree.nodes[ROOT].tokens, tree.nodes[parent].tokens];
        // The root gave class 0 its 48, then class 2's level 36, of which class 3 got 24, leaving class 2 short.
        assert_eq!(spare(&tree), [-36, 0]);
        tree.deactivate(one);
        assert_eq!((spare(&tree), tree.height(two)), ([-36, 12], 36));
        tree.deactivate(two);
        assert_eq!((spare(&tree), tree.height(tree.leaf(ClassId(0)))), ([0, 0], 48));
    }

    #[test]
    fn tokens_go_down_by_weight_level_by_level() {
        let (mut tree, mut rng) = tree(None);
        // Every bucket is far below its height, so none is deleted.
        for class in [0, 2, 3] {
            let (bucket, _) = tree.find_or_create(FlowId(0), ClassId(class), &mut rng);
            tree.take(bucket, 1 << 30);
        }
        let before: Vec<Tokens> = [0, 2, 3].map(|class| tree.peek(FlowId(0), ClassId(class)).unwrap()).into();
        for node in tree.nodes.iter_mut().filter(|node| !node.children.is_empty()) {
            node.content -= node.tokens;
            node.tokens = 0;
        }
        let mut done = TokenDistribution::default();
        for _ in 0..40_000 {
            let TokenDistribution { drawn, tokens } =
                tree.give_back(Refund { carried: 1, grain: 1, queue: 100 }, &mut rng);
            done = TokenDistribution { drawn: done.drawn + drawn, tokens: done.tokens + tokens };
        }
        // A token for class 2 or 3 passes through their parent, which is drawn too. Tokens count where they end.
        assert!(done.tokens == 40_000 && done.drawn > 60_000, "{done:?}");
        // Shares: 1/4, and 1/3 and 2/3 of 3/4. The standard deviation is at most 100; the tolerance is five of them.
        for ((class, before), wanted) in [0, 2, 3].into_iter().zip(before).zip([10_000, 10_000, 20_000]) {
            let given = tree.peek(FlowId(0), ClassId(class)).unwrap() - before;
            assert!((given - wanted).abs() < 500, "class {class}: {given}");
        }
    }

    #[test]
    fn flows_share_their_classs_height_equally_and_a_class_without_active_flows_is_inactive() {
        let (mut tree, mut rng) = tree(Some(8));
        let mut height = |flow, class| tree.find_or_create(FlowId(flow), ClassId(class), &mut rng).1.height;
        assert_eq!([height(1, 0), height(2, 0), height(3, 3), height(4, 3), height(4, 3)], [48, 24, 36, 18, 18]);
        assert_eq!(height(1, 0), 6);
        assert_eq!((tree.buckets(), tree.bucket_height(ClassId(3))), (4, Some(18)));
        assert_eq!(tree.levels().sum::<Tokens>() + tree.spare(), 48);
        // Without arrivals buckets fill up and are deleted, until the remaining ones are just full and hold all tokens.
        for _ in 0..1000 {
            tree.give_back(Refund { carried: 0, grain: 1, queue: 1 }, &mut rng);
        }
        assert!(tree.buckets() < 4);
        assert_eq!((tree.spare(), tree.levels().sum::<Tokens>()), (0, 48));
    }

    #[test]
    fn weights_keep_their_proportion_however_large_or_small() {
        for unit in [0.125, 1.0, 1000.0, 1e-100] {
            assert!(
                integer_weight(unit, 8.0 * unit).abs_diff(integer_weight(8.0 * unit, 8.0 * unit) / 8) <= 1,
                "{unit}"
            );
        }
        assert_eq!(
            [integer_weight(1.0, 3.0), integer_weight(2.0, 3.0), integer_weight(3.0, 3.0)],
            [1, 2, 3].map(|weight| weight << 30)
        );
        assert_eq!([integer_weight(5e-324, f64::MAX), integer_weight(5e-324, 5e-324)], [1, 1]);
    }

    #[test]
    fn weights_of_zero_and_parents_after_their_children_are_refused() {
        for class in [Class { parent: None, weight: 0.0 }, Class { parent: Some(ClassId(0)), weight: 1.0 }] {
            assert!(matches!(TokenTree::new(&[class], 10, None, 7), Err(BuildError::Conflict(_))));
        }
    }
}
