//! Normalisation, losses, recurrence, training.

use super::Rule::{Code, Formula, Without};
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("Adagrad", Code(adagrad)),
    ("Adam", Code(adam)),
    ("BatchNormalization", Code(batch_norm)),
    ("GRU", Code(gru)),
    ("GroupNormalization", Code(group_norm)),
    ("Hardmax", Code(|n| share(n, "hardmax"))),
    (
        "InstanceNormalization",
        Formula("instance_norm({0}, {1}, {2}, epsilon={epsilon=1e-5})"),
    ),
    ("LRN", Code(response)),
    ("LSTM", Code(lstm)),
    ("LayerNormalization", Code(layer_norm)),
    ("LogSoftmax", Code(|n| share(n, "log_softmax"))),
    ("LpNormalization", Code(normalize)),
    ("MeanVarianceNormalization", Code(mean_variance)),
    ("Momentum", Code(momentum)),
    ("NegativeLogLikelihoodLoss", Code(|n| loss(n, "nll_loss"))),
    ("RMSNormalization", Code(rms_norm)),
    ("RNN", Code(rnn)),
    ("Softmax", Code(|n| share(n, "softmax"))),
    ("SoftmaxCrossEntropyLoss", Code(cross_entropy)),
    (
        "ImageDecoder",
        Without("files are decoded where they are read, by an input of the pipeline"),
    ),
];

/// Before version 13, all axes from `axis` on are one.
fn share(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let x = n.x(0)?;
    if n.opset() >= 13 {
        let axis = n.int("axis", -1);
        return n.give(format!("{name}({x}, axis={axis})"));
    }
    let (axis, shape) = (n.front(n.int("axis", 1), 0)? as usize, n.shape(0)?);
    let outer: i64 = shape[..axis].iter().product();
    let rows = n.line(format!("{name}(reshape({x}, [{outer}, -1]), axis=1)"));
    n.give(format!("reshape({rows}, {shape:?})"))
}

fn batch_norm(n: &mut Node<'_, '_>) -> Converted {
    if n.flag("training_mode") || (1..n.outputs()).any(|at| n.wants(at)) {
        return Err("training updates statistics".to_owned());
    }
    let [x, weight, bias, mean, var] = [n.x(0)?, n.x(1)?, n.x(2)?, n.x(3)?, n.x(4)?];
    let epsilon = n.float("epsilon", 1e-5);
    n.give(format!(
        "batch_norm({x}, {mean}, {var}, {weight}, {bias}, epsilon={epsilon})"
    ))
}

fn group_norm(n: &mut Node<'_, '_>) -> Converted {
    let [x, weight, bias] = [n.x(0)?, n.x(1)?, n.x(2)?];
    let (epsilon, groups) = (n.float("epsilon", 1e-5), n.int("num_groups", 1));
    n.give(format!(
        "group_norm({x}, {weight}, {bias}, epsilon={epsilon}, groups={groups})"
    ))
}

/// Statistics are over all axes from `axis` on.
fn layer_norm(n: &mut Node<'_, '_>) -> Converted {
    let (x, axis, epsilon) = (n.x(0)?, n.int("axis", -1), n.float("epsilon", 1e-5));
    let (weight, bias) = (n.x(1)?, if n.has(2) { n.x(2)? } else { "none".to_owned() });
    let y = n.line(format!(
        "layer_norm({x}, {weight}, {bias}, epsilon={epsilon}, axis={axis})"
    ));
    let mut results = vec![y];
    if n.wants(1) || n.wants(2) {
        let axes: Vec<i64> = (n.front(axis, 0)?..n.rank(0)?).collect();
        results.push(n.line(format!("mean({x}, axis={axes:?}, keepdims=true)")));
        let var = n.line(format!("var({x}, axis={axes:?}, keepdims=true)"));
        results.push(n.line(format!("1 / sqrt({var} + {epsilon})")));
    }
    Ok(results)
}

fn rms_norm(n: &mut Node<'_, '_>) -> Converted {
    let (x, weight) = (n.x(0)?, n.x(1)?);
    let (axis, epsilon) = (n.int("axis", -1), n.float("epsilon", 1e-5));
    n.give(format!(
        "rms_norm({x}, {weight}, epsilon={epsilon}, axis={axis})"
    ))
}

fn normalize(n: &mut Node<'_, '_>) -> Converted {
    let (x, p, axis) = (n.x(0)?, n.int("p", 2), n.int("axis", -1));
    n.give(format!("normalize({x}, p={p}, axis={axis})"))
}

fn mean_variance(n: &mut Node<'_, '_>) -> Converted {
    let (x, axes) = (n.x(0)?, n.ints("axes").unwrap_or_else(|| vec![0, 2, 3]));
    n.give(format!(
        "mean_variance_norm({x}, epsilon=1e-9, axis={axes:?})"
    ))
}

fn response(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let [alpha, beta, bias] = [("alpha", 0.0001), ("beta", 0.75), ("bias", 1.0)]
        .map(|(name, default)| n.float(name, default));
    let size = n.int("size", 1);
    n.give(format!(
        "lrn({x}, alpha={alpha}, beta={beta}, k={bias}, size={size})"
    ))
}

fn loss(n: &mut Node<'_, '_>, name: &str) -> Converted {
    let (x, target) = (n.x(0)?, n.x(1)?);
    let weight = if n.has(2) { n.x(2)? } else { "none".to_owned() };
    let reduction = n.word("reduction", "mean");
    let ignored = match n.attr("ignore_index") {
        Some(_) => n.int("ignore_index", 0).to_string(),
        None => "none".to_owned(),
    };
    n.give(format!(
        "{name}({x}, {target}, {weight}, reduction='{reduction}', ignore_index={ignored})"
    ))
}

fn cross_entropy(n: &mut Node<'_, '_>) -> Converted {
    let mut results = loss(n, "cross_entropy")?;
    if n.wants(1) {
        let x = n.x(0)?;
        results.push(n.line(format!("log_softmax({x}, axis=1)")));
    }
    Ok(results)
}

/// The inputs of a recurrent layer as they come, time first.
struct Layer {
    steps: Vec<String>,
    /// Of the input and of the state, each for all gates.
    weights: [String; 2],
    biases: Option<[String; 2]>,
    hidden: i64,
    batch_first: bool,
    reverse: bool,
}

fn layer(n: &mut Node<'_, '_>, gates: i64) -> Result<Layer, String> {
    let direction = n.word("direction", "forward");
    if direction == "bidirectional"
        || n.attr("activations").is_some()
        || n.attr("clip").is_some()
        || n.has(4)
    {
        return Err("a variant that needs loops of its own".to_owned());
    }
    let batch_first = n.int("layout", 0) == 1;
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let hidden = n.int("hidden_size", 0);
    let count = if batch_first { shape[1] } else { shape[0] };
    let slice = |at: i64| {
        if batch_first {
            format!("{x}[:, {at}]")
        } else {
            format!("{x}[{at}]")
        }
    };
    let steps = (0..count).map(|at| n.line(slice(at))).collect();
    let (w, r) = (n.x(1)?, n.x(2)?);
    let weights = [n.line(format!("{w}[0].T")), n.line(format!("{r}[0].T"))];
    let biases = match n.has(3) {
        true => {
            let (b, half) = (n.x(3)?, gates * hidden);
            Some([
                n.line(format!("{b}[0, :{half}]")),
                n.line(format!("{b}[0, {half}:]")),
            ])
        }
        false => None,
    };
    Ok(Layer {
        steps,
        weights,
        biases,
        hidden,
        batch_first,
        reverse: direction == "reverse",
    })
}

impl Layer {
    /// The order in which time is gone through.
    fn order(&self) -> Vec<usize> {
        let forward = 0..self.steps.len();
        if self.reverse {
            forward.rev().collect()
        } else {
            forward.collect()
        }
    }

    /// The state before the first step.
    fn start(&self, n: &mut Node<'_, '_>, at: usize) -> Result<String, String> {
        if n.has(at) {
            let given = n.x(at)?;
            return Ok(match self.batch_first {
                true => n.line(format!("{given}[:, 0]")),
                false => n.line(format!("{given}[0]")),
            });
        }
        let (batch, dtype) = (n.shape_of(&self.steps[0])?[0], n.dtype(0)?);
        Ok(n.line(format!(
            "zeros([{batch}, {}], dtype='{dtype}')",
            self.hidden
        )))
    }

    /// What the weights make of an input or a state: 0 for the input, 1 for the state.
    fn product(&self, n: &mut Node<'_, '_>, value: &str, which: usize) -> String {
        let weights = &self.weights[which];
        match &self.biases {
            Some(biases) => n.line(format!("{value} @ {weights} + {}", biases[which])),
            None => n.line(format!("{value} @ {weights}")),
        }
    }

    /// The columns of a gate.
    fn gate(&self, name: &str, at: i64) -> String {
        format!("{name}[:, {}:{}]", at * self.hidden, (at + 1) * self.hidden)
    }

    /// All states in the order of time, and the last one, with an axis for the direction.
    fn results(&self, n: &mut Node<'_, '_>, states: &[(usize, String)], last: &str) -> Vec<String> {
        let mut ordered = states.to_vec();
        ordered.sort();
        let names: Vec<_> = ordered.into_iter().map(|(_, name)| name).collect();
        let axis = usize::from(self.batch_first);
        let all = n.line(format!("stack({}, axis={axis})", names.join(", ")));
        let (direction, of_last) = if self.batch_first { (2, 1) } else { (1, 0) };
        vec![
            n.line(format!("copy(expand_dims({all}, axis={direction}))")),
            n.line(format!("copy(expand_dims({last}, axis={of_last}))")),
        ]
    }
}

fn rnn(n: &mut Node<'_, '_>) -> Converted {
    let layer = layer(n, 1)?;
    let mut h = layer.start(n, 5)?;
    let mut states = Vec::new();
    for at in layer.order() {
        let (x, r) = (
            layer.product(n, &layer.steps[at], 0),
            layer.product(n, &h, 1),
        );
        h = n.line(format!("tanh({x} + {r})"));
        states.push((at, h.clone()));
    }
    Ok(layer.results(n, &states, &h))
}

fn gru(n: &mut Node<'_, '_>) -> Converted {
    if n.flag("linear_before_reset") {
        return Err("a variant that needs loops of its own".to_owned());
    }
    let layer = layer(n, 3)?;
    let mut h = layer.start(n, 5)?;
    let mut states = Vec::new();
    let from = 2 * layer.hidden;
    for at in layer.order() {
        let (x, r) = (
            layer.product(n, &layer.steps[at], 0),
            layer.product(n, &h, 1),
        );
        let update = n.line(format!(
            "sigmoid({} + {})",
            layer.gate(&x, 0),
            layer.gate(&r, 0)
        ));
        let reset = n.line(format!(
            "sigmoid({} + {})",
            layer.gate(&x, 1),
            layer.gate(&r, 1)
        ));
        let weights = &layer.weights[1];
        let mut candidate = format!(
            "({reset} * {h}) @ {weights}[:, {from}:] + {}",
            layer.gate(&x, 2)
        );
        if let Some([_, bias]) = &layer.biases {
            candidate = format!("{candidate} + {bias}[{from}:]");
        }
        let candidate = n.line(format!("tanh({candidate})"));
        h = n.line(format!("(1 - {update}) * {candidate} + {update} * {h}"));
        states.push((at, h.clone()));
    }
    Ok(layer.results(n, &states, &h))
}

fn lstm(n: &mut Node<'_, '_>) -> Converted {
    if n.has(7) || n.flag("input_forget") {
        return Err("a variant that needs loops of its own".to_owned());
    }
    let layer = layer(n, 4)?;
    let (mut h, mut c) = (layer.start(n, 5)?, layer.start(n, 6)?);
    let mut states = Vec::new();
    for at in layer.order() {
        let (x, r) = (
            layer.product(n, &layer.steps[at], 0),
            layer.product(n, &h, 1),
        );
        let gates = n.line(format!("{x} + {r}"));
        let [input, output, forget, cell] = [0, 1, 2, 3].map(|at| layer.gate(&gates, at));
        c = n.line(format!(
            "sigmoid({forget}) * {c} + sigmoid({input}) * tanh({cell})"
        ));
        h = n.line(format!("sigmoid({output}) * tanh({c})"));
        states.push((at, h.clone()));
    }
    let mut results = layer.results(n, &states, &h);
    let axis = usize::from(layer.batch_first);
    results.push(n.line(format!("copy(expand_dims({c}, axis={axis}))")));
    Ok(results)
}

/// The gradient with the weight decay.
fn gradient(n: &mut Node<'_, '_>, x: &str, g: &str) -> String {
    let norm = n.float("norm_coefficient", 0.0);
    n.line(format!("{norm} * {x} + {g}"))
}

fn momentum(n: &mut Node<'_, '_>) -> Converted {
    let [r, t, x, g, v] = [n.x(0)?, n.x(1)?, n.x(2)?, n.x(3)?, n.x(4)?];
    let g = gradient(n, &x, &g);
    let (alpha, beta) = (n.float("alpha", 0.0), n.float("beta", 0.0));
    let dtype = n.dtype(2)?;
    let beta = n.line(format!(
        "where({t} > 0, {dtype}({beta} + 0 * {r}), {dtype}(1 + 0 * {r}))"
    ));
    let v = n.line(format!("{alpha} * {v} + {beta} * {g}"));
    let x = match n.word("mode", "standard") {
        "nesterov" => n.line(format!("{x} - {r} * ({g} + {alpha} * {v})")),
        _ => n.line(format!("{x} - {r} * {v}")),
    };
    Ok(vec![x, v])
}

fn adagrad(n: &mut Node<'_, '_>) -> Converted {
    let [r, t, x, g, h] = [n.x(0)?, n.x(1)?, n.x(2)?, n.x(3)?, n.x(4)?];
    let (decay, epsilon) = (n.float("decay_factor", 0.0), n.float("epsilon", 1e-6));
    let rate = n.line(format!("{r} / (1 + f32({t}) * {decay})"));
    let g = gradient(n, &x, &g);
    let h = n.line(format!("{h} + {g} * {g}"));
    let x = n.line(format!("{x} - {rate} * {g} / (sqrt({h}) + {epsilon})"));
    Ok(vec![x, h])
}

fn adam(n: &mut Node<'_, '_>) -> Converted {
    let [r, t, x, g, v, h] = [n.x(0)?, n.x(1)?, n.x(2)?, n.x(3)?, n.x(4)?, n.x(5)?];
    let (alpha, beta, epsilon) = (
        n.float("alpha", 0.9),
        n.float("beta", 0.999),
        n.float("epsilon", 1e-6),
    );
    let g = gradient(n, &x, &g);
    let v = n.line(format!("{alpha} * {v} + {} * {g}", 1.0 - alpha));
    let h = n.line(format!("{beta} * {h} + {} * {g} * {g}", 1.0 - beta));
    let corrected = format!("{r} * sqrt(1 - {beta} ** f32({t})) / (1 - {alpha} ** f32({t}))");
    let rate = n.line(format!("where({t} > 0, {corrected}, {r})"));
    let x = n.line(format!("{x} - {rate} * {v} / (sqrt({h}) + {epsilon})"));
    Ok(vec![x, v, h])
}
