//! Whose end made the room in which a batch starts.

/// Amounts of a node's resources: CPUs, bytes of memory, then ten-thousandths and bytes of each GPU in
/// question.
pub(super) type Room = Vec<i128>;

/// Of so many batches that end at one time on one node it is told whose end was needed; the others
/// count as needed by nobody.
const MOST_TOLD_APART: usize = 32;

/// Which of the batches that `ended` at one time made the room of one that starts then, what is `left`
/// beside it: the last whose room suffices without that of the others, or else the last of a smallest
/// set, of which none can be missed.
pub(super) fn made_room(
    mut left: Room,
    ended: &[usize],
    given_back: impl Fn(usize) -> Room,
) -> Option<usize> {
    if let [] | [_] = ended {
        return ended.first().copied();
    }
    let last = ended.iter().rev().take(MOST_TOLD_APART);
    let last: Vec<_> = last.map(|batch| (*batch, given_back(*batch))).collect();
    let mut without = left.clone();
    for (_, room) in &last {
        add(&mut without, room, -1);
    }
    for (batch, room) in &last {
        add(&mut without, room, 1);
        if is_room(&without) {
            return Some(*batch);
        }
        add(&mut without, room, -1);
    }
    for (batch, room) in &last {
        add(&mut left, room, -1);
        if !is_room(&left) {
            return Some(*batch);
        }
    }
    None
}

fn add(sum: &mut Room, room: &Room, times: i128) {
    for (sum, amount) in sum.iter_mut().zip(room) {
        *sum += times * amount;
    }
}

fn is_room(left: &Room) -> bool {
    left.iter().all(|amount| *amount >= 0)
}
