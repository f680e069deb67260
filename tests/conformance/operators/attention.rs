//! Attention.

use super::Rule::{Code, Without};
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("Attention", Code(attention)),
    ("FlexAttention", Code(flex_attention)),
    ("LinearAttention", Without("haul has no loop over time yet")),
    ("RotaryEmbedding", Code(rotary)),
];

/// Heads as an axis of their own: of three axes, the last holds them.
fn heads(n: &mut Node<'_, '_>, at: usize, count: &str) -> Result<String, String> {
    let (x, shape) = (n.x(at)?, n.shape(at)?);
    if shape.len() == 4 {
        return Ok(x);
    }
    let heads = n.int(count, 1);
    let split = format!("reshape({x}, [{}, {}, {heads}, -1])", shape[0], shape[1]);
    Ok(n.line(format!("copy(transpose({split}, axes=[0, 2, 1, 3]))")))
}

fn attention(n: &mut Node<'_, '_>) -> Converted {
    if n.wants(3) {
        return Err("the scores come out, too".to_owned());
    }
    if n.has(6) || n.int("left_window_size", -1) != -1 || n.int("right_window_size", -1) != -1 {
        return Err("lengths or windows of its own".to_owned());
    }
    let joined = n.rank(0)? == 3;
    let q = heads(n, 0, "q_num_heads")?;
    let [mut k, mut v] = [heads(n, 1, "kv_num_heads")?, heads(n, 2, "kv_num_heads")?];
    if n.has(4) {
        let (past_k, past_v) = (n.x(4)?, n.x(5)?);
        k = n.line(format!("concat({past_k}, {k}, axis=2)"));
        v = n.line(format!("concat({past_v}, {v}, axis=2)"));
    }
    let mask = if n.has(3) { n.x(3)? } else { "none".to_owned() };
    let mut options = format!("causal={}", n.flag("is_causal"));
    if n.attr("scale").is_some() {
        options += &format!(", scale={}", n.float("scale", 1.0));
    }
    if n.float("softcap", 0.0) != 0.0 {
        options += &format!(", softcap={}", n.float("softcap", 0.0));
    }
    let mut y = n.line(format!("attention({q}, {k}, {v}, {mask}, {options})"));
    if joined {
        let shape = n.shape_of(&y)?;
        y = n.line(format!(
            "reshape(transpose({y}, axes=[0, 2, 1, 3]), [{}, {}, -1])",
            shape[0], shape[2]
        ));
    }
    Ok(vec![y, k, v])
}

fn flex_attention(n: &mut Node<'_, '_>) -> Converted {
    if n.attr("score_mod").is_some() || n.attr("prob_mod").is_some() {
        return Err("graphs within".to_owned());
    }
    let [q, k, v] = [n.x(0)?, n.x(1)?, n.x(2)?];
    match n.attr("scale") {
        Some(_) => {
            let scale = n.float("scale", 1.0);
            n.give(format!("attention({q}, {k}, {v}, scale={scale})"))
        }
        None => n.give(format!("attention({q}, {k}, {v})")),
    }
}

fn rotary(n: &mut Node<'_, '_>) -> Converted {
    if n.rank(0)? != 4 || n.int("rotary_embedding_dim", 0) != 0 {
        return Err("heads in the last axis, or a part of them".to_owned());
    }
    let (x, mut cos, mut sin) = (n.x(0)?, n.x(1)?, n.x(2)?);
    if n.has(3) {
        let positions = n.x(3)?;
        cos = n.line(format!("take({cos}, {positions}, axis=0)"));
        sin = n.line(format!("take({sin}, {positions}, axis=0)"));
    }
    let interleaved = n.flag("interleaved");
    n.give(format!(
        "rotary_embedding({x}, {cos}[:, newaxis], {sin}[:, newaxis], interleaved={interleaved})"
    ))
}
