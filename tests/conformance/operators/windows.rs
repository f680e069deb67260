//! Convolutions, pooling, resampling.

use super::Rule::{Code, Without};
use super::{Converted, Node, Table};

pub(super) const TABLE: Table = &[
    ("AffineGrid", Code(affine_grid)),
    ("AveragePool", Code(|n| pool(n, "avg_pool"))),
    ("CausalConvWithState", Code(causal_conv)),
    ("Col2Im", Code(col2im)),
    ("Conv", Code(conv)),
    ("ConvInteger", Code(conv_integer)),
    ("ConvTranspose", Code(conv_transpose)),
    ("DeformConv", Without("haul has no deformable convolution")),
    ("GlobalAveragePool", Code(|n| global(n, "avg"))),
    ("GlobalMaxPool", Code(|n| global(n, "max"))),
    ("GridSample", Code(grid_sample)),
    ("LpPool", Code(|n| pool(n, "lp_pool"))),
    ("MaxPool", Code(|n| pool(n, "max_pool"))),
    ("MaxUnpool", Code(max_unpool)),
    ("QLinearConv", Code(quantized_conv)),
    ("Resize", Code(resize)),
    ("RoiAlign", Without("haul has no pooling of regions")),
    ("Upsample", Code(upsample)),
];

/// Padding as haul writes it.
fn padding(n: &Node<'_, '_>, rank: usize) -> String {
    match n.word("auto_pad", "NOTSET") {
        "SAME_UPPER" => "'same'".to_owned(),
        "SAME_LOWER" => "'same_lower'".to_owned(),
        "VALID" => "'valid'".to_owned(),
        _ => format!("{:?}", n.ints("pads").unwrap_or_else(|| vec![0; 2 * rank])),
    }
}

fn per_axis(n: &Node<'_, '_>, name: &str, rank: usize) -> Vec<i64> {
    n.ints(name).unwrap_or_else(|| vec![1; rank])
}

/// `stride=…, padding=…, dilation=…`.
fn options(n: &Node<'_, '_>, rank: usize) -> String {
    let (stride, dilation) = (per_axis(n, "strides", rank), per_axis(n, "dilations", rank));
    let padding = padding(n, rank);
    format!("stride={stride:?}, padding={padding}, dilation={dilation:?}")
}

fn with_bias(n: &mut Node<'_, '_>, product: String, at: usize, rank: usize) -> Converted {
    if !n.has(at) {
        return n.give(product);
    }
    let bias = n.x(at)?;
    let axes = vec!["newaxis"; rank].join(", ");
    n.give(format!("{product} + {bias}[:, {axes}]"))
}

fn conv(n: &mut Node<'_, '_>) -> Converted {
    let (x, w) = (n.x(0)?, n.x(1)?);
    let (rank, groups) = (n.rank(0)? as usize - 2, n.int("group", 1));
    let options = options(n, rank);
    with_bias(
        n,
        format!("conv{rank}d({x}, {w}, {options}, groups={groups})"),
        2,
        rank,
    )
}

/// `output_shape` says what the padding is.
fn conv_transpose(n: &mut Node<'_, '_>) -> Converted {
    let (x, w) = (n.x(0)?, n.x(1)?);
    let (shape, filter) = (n.shape(0)?, n.shape(1)?);
    let rank = shape.len() - 2;
    let (stride, dilation) = (per_axis(n, "strides", rank), per_axis(n, "dilations", rank));
    let more = n.ints("output_padding").unwrap_or_else(|| vec![0; rank]);
    let full = |axis: usize| {
        stride[axis] * (shape[axis + 2] - 1)
            + more[axis]
            + (filter[axis + 2] - 1) * dilation[axis]
            + 1
    };
    let wanted: Option<Vec<i64>> = match n.word("auto_pad", "NOTSET") {
        "SAME_UPPER" | "SAME_LOWER" => Some(
            (0..rank)
                .map(|axis| shape[axis + 2] * stride[axis])
                .collect(),
        ),
        _ => n.ints("output_shape"),
    };
    let padding = match wanted {
        Some(wanted) => {
            let total: Vec<i64> = (0..rank).map(|axis| full(axis) - wanted[axis]).collect();
            let lower = n.word("auto_pad", "NOTSET") != "SAME_UPPER";
            let begin: Vec<i64> = total
                .iter()
                .map(|t| {
                    if lower {
                        t - t.div_euclid(2)
                    } else {
                        t.div_euclid(2)
                    }
                })
                .collect();
            let end: Vec<i64> = total.iter().zip(&begin).map(|(t, b)| t - b).collect();
            [begin, end].concat()
        }
        None => n.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]),
    };
    let (fewer, cut): (Vec<i64>, Vec<i64>) =
        padding.iter().map(|p| ((*p).max(0), (*p).min(0))).unzip();
    let groups = n.int("group", 1);
    let mut product = format!(
        "conv_transpose{rank}d({x}, {w}, stride={stride:?}, padding={fewer:?}, output_padding={more:?}, dilation={dilation:?}, groups={groups})"
    );
    if cut.iter().any(|c| *c < 0) {
        let widths: Vec<i64> = cut.iter().map(|c| -c).collect();
        let axes: Vec<i64> = (2..2 + rank as i64).collect();
        product = format!("pad({product}, {widths:?}, axis={axes:?})");
    }
    with_bias(n, product, 2, rank)
}

/// Exact in `f64`; padding is with the zero point, which is 0 then.
fn centred(
    n: &mut Node<'_, '_>,
    at: usize,
    zero: usize,
    is_filter: bool,
) -> Result<String, String> {
    let x = n.x(at)?;
    if !n.has(zero) {
        return Ok(n.line(format!("f64({x})")));
    }
    let (point, shape) = (n.x(zero)?, n.shape(zero)?);
    let axes = match is_filter && shape.len() == 1 {
        true => format!("[:{}]", ", newaxis".repeat(n.rank(at)? as usize - 1)),
        false => String::new(),
    };
    Ok(n.line(format!("f64({x}) - f64({point}{axes})")))
}

fn conv_integer(n: &mut Node<'_, '_>) -> Converted {
    let rank = n.rank(0)? as usize - 2;
    let (x, w) = (centred(n, 0, 2, false)?, centred(n, 1, 3, true)?);
    let (options, groups) = (options(n, rank), n.int("group", 1));
    n.give(format!(
        "i32(conv{rank}d({x}, {w}, {options}, groups={groups}))"
    ))
}

fn quantized_conv(n: &mut Node<'_, '_>) -> Converted {
    if n.has(8) {
        return Err("a bias of 32 bits".to_owned());
    }
    let rank = n.rank(0)? as usize - 2;
    let (x, w) = (centred(n, 0, 2, false)?, centred(n, 3, 5, true)?);
    let (options, groups) = (options(n, rank), n.int("group", 1));
    let product = n.line(format!(
        "f32(conv{rank}d({x}, {w}, {options}, groups={groups}))"
    ));
    let (a, b, scale, zero) = (n.x(1)?, n.x(4)?, n.x(6)?, n.x(7)?);
    let axes = match n.shape(4)?.len() {
        1 => format!("[:{}]", ", newaxis".repeat(rank)),
        _ => String::new(),
    };
    let dtype = n.dtype(7)?;
    n.give(format!(
        "{dtype}(round({product} * ({a} * {b}{axes} / {scale})) + f32({zero}))"
    ))
}

fn causal_conv(n: &mut Node<'_, '_>) -> Converted {
    let (x, w) = (n.x(0)?, n.x(1)?);
    let (shape, filter, dtype) = (n.shape(0)?, n.shape(1)?, n.dtype(0)?);
    let (channels, reach) = (shape[1], filter[2] - 1);
    let past = match n.has(3) {
        true => n.x(3)?,
        false => n.line(format!(
            "zeros([{}, {channels}, {reach}], dtype='{dtype}')",
            shape[0]
        )),
    };
    let whole = n.line(format!("concat({past}, {x}, axis=2)"));
    let mut y = n.line(format!("conv1d({whole}, {w}, groups={channels})"));
    if n.has(2) {
        let bias = n.x(2)?;
        y = n.line(format!("{y} + {bias}[:, newaxis]"));
    }
    if n.word("activation", "none") != "none" {
        y = n.line(format!("silu({y})"));
    }
    let state = n.line(format!("copy({whole}[:, :, {}:])", shape[2]));
    Ok(vec![y, state])
}

fn pool(n: &mut Node<'_, '_>, name: &str) -> Converted {
    if n.int("storage_order", 0) != 0 {
        return Err("indices that count column by column".to_owned());
    }
    let x = n.x(0)?;
    let window = n
        .ints("kernel_shape")
        .ok_or("the size of the window is left out")?;
    let mut options = options(n, window.len());
    if n.flag("ceil_mode") {
        options += ", ceil_mode=true";
    }
    match name {
        "avg_pool" => options += &format!(", count_include_pad={}", n.flag("count_include_pad")),
        "lp_pool" => options += &format!(", p={}", n.int("p", 2)),
        _ => {}
    }
    if n.wants(1) {
        return Ok(n.results(
            format!("{name}_with_indices({x}, {window:?}, {options})"),
            2,
        ));
    }
    n.give(format!("{name}({x}, {window:?}, {options})"))
}

fn global(n: &mut Node<'_, '_>, kind: &str) -> Converted {
    let x = n.x(0)?;
    n.give(format!("global_{kind}_pool({x})"))
}

/// Indices count through the whole output.
fn max_unpool(n: &mut Node<'_, '_>) -> Converted {
    let (x, indices) = (n.x(0)?, n.x(1)?);
    let (shape, dtype) = (n.shape(0)?, n.dtype(0)?);
    let rank = shape.len() - 2;
    let window = n
        .ints("kernel_shape")
        .ok_or("the size of the window is left out")?;
    let stride = per_axis(n, "strides", rank);
    let pads = n.ints("pads").unwrap_or_else(|| vec![0; 2 * rank]);
    let size = |axis: usize| {
        (shape[axis + 2] - 1) * stride[axis] - pads[axis] - pads[axis + rank] + window[axis]
    };
    let sizes = match n.fixed_ints(2)? {
        Some(sizes) => sizes,
        None => [shape[0], shape[1]]
            .into_iter()
            .chain((0..rank).map(size))
            .collect(),
    };
    let count: i64 = sizes.iter().product();
    let flat = n.line(format!(
        "scatter(zeros([{count}], dtype='{dtype}'), flatten({indices}), flatten({x}))"
    ));
    n.give(format!("reshape({flat}, {sizes:?})"))
}

fn col2im(n: &mut Node<'_, '_>) -> Converted {
    let x = n.x(0)?;
    let sizes = n.fixed_ints(1)?.ok_or("the sizes are left out")?;
    let window = n.fixed_ints(2)?.ok_or("the window is left out")?;
    let options = options(n, sizes.len());
    n.give(format!(
        "fold({x}, output_size={sizes:?}, kernel_size={window:?}, {options})"
    ))
}

fn affine_grid(n: &mut Node<'_, '_>) -> Converted {
    let theta = n.x(0)?;
    let size = n.fixed_ints(1)?.ok_or("the size is left out")?;
    let align = n.flag("align_corners");
    n.give(format!(
        "affine_grid({theta}, {size:?}, align_corners={align})"
    ))
}

fn grid_sample(n: &mut Node<'_, '_>) -> Converted {
    let (x, grid) = (n.x(0)?, n.x(1)?);
    // Of the words before version 20.
    let mode = match n.word("mode", "linear") {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        mode => mode,
    };
    let padding = n.word("padding_mode", "zeros");
    let align = n.flag("align_corners");
    n.give(format!(
        "grid_sample({x}, {grid}, mode='{mode}', padding='{padding}', align_corners={align})"
    ))
}

fn upsample(n: &mut Node<'_, '_>) -> Converted {
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let scales: Vec<f64> = n.fixed(1)?.elements.iter().map(|e| e.real()).collect();
    let sizes: Vec<i64> = shape
        .iter()
        .zip(&scales)
        .map(|(size, scale)| (*size as f64 * scale).floor() as i64)
        .collect();
    let mode = n.word("mode", "nearest");
    n.give(format!(
        "resize({x}, {sizes:?}, mode='{mode}', coordinates='asymmetric', rounding='floor', scales={scales:?})"
    ))
}

/// By scales or by sizes, of all axes or of those named.
fn resize(n: &mut Node<'_, '_>) -> Converted {
    if n.has(1) {
        return Err("regions to crop".to_owned());
    }
    let (x, shape) = (n.x(0)?, n.shape(0)?);
    let axes = n
        .ints("axes")
        .unwrap_or_else(|| (0..shape.len() as i64).collect());
    let mut scales = vec![1.0; shape.len()];
    let mut sizes = shape.clone();
    if n.has(2) && !n.fixed(2)?.elements.is_empty() {
        for (axis, scale) in axes.iter().zip(n.fixed(2)?.elements) {
            let axis = n.front(*axis, 0)? as usize;
            scales[axis] = scale.real();
            sizes[axis] = (shape[axis] as f64 * scale.real()).floor() as i64;
        }
    } else {
        let given = n.fixed_ints(3)?.ok_or("neither scales nor sizes")?;
        for (axis, size) in axes.iter().zip(&given) {
            let axis = n.front(*axis, 0)? as usize;
            sizes[axis] = *size;
            scales[axis] = *size as f64 / shape[axis] as f64;
        }
        keep_ratio(n, &axes, &shape, &mut sizes, &mut scales)?;
    }
    let resized: Vec<usize> = (0..shape.len())
        .filter(|axis| sizes[*axis] != shape[*axis] || scales[*axis] != 1.0)
        .collect();
    let first = resized.first().copied().unwrap_or(shape.len() - 1);
    let coordinates = n.word("coordinate_transformation_mode", "half_pixel");
    let nearest = n.word("nearest_mode", "round_prefer_floor");
    let (mode, a) = (n.word("mode", "nearest"), n.float("cubic_coeff_a", -0.75));
    let (antialias, exclude) = (n.flag("antialias"), n.flag("exclude_outside"));
    n.give(format!(
        "resize({x}, {:?}, mode='{mode}', coordinates='{coordinates}', rounding='{nearest}', cubic_coefficient={a}, antialias={antialias}, exclude_outside={exclude}, scales={:?})",
        &sizes[first..],
        &scales[first..],
    ))
}

/// One scale for all axes, by the policy.
fn keep_ratio(
    n: &mut Node<'_, '_>,
    axes: &[i64],
    shape: &[i64],
    sizes: &mut [i64],
    scales: &mut [f64],
) -> Result<(), String> {
    let policy = n.word("keep_aspect_ratio_policy", "stretch");
    if policy == "stretch" {
        return Ok(());
    }
    let axes: Vec<usize> = axes
        .iter()
        .map(|axis| n.front(*axis, 0).map(|a| a as usize))
        .collect::<Result<_, _>>()?;
    let all = axes.iter().map(|axis| scales[*axis]);
    let scale = match policy {
        "not_larger" => all.fold(f64::INFINITY, f64::min),
        _ => all.fold(0.0, f64::max),
    };
    for axis in axes {
        scales[axis] = scale;
        sizes[axis] = (scale * shape[axis] as f64 + 0.5).floor() as i64;
    }
    Ok(())
}
