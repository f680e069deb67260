use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError};

/// How filters move, from the attributes of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) rows: Axis,
    pub(super) cols: Axis,
    pub(super) groups: usize,
}

/// How filters move along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) stride: usize,
    pub(super) dilation: usize,
    padding: Padding,
}

#[derive(Clone, Copy, Debug)]
enum Padding {
    Same,
    /// Zeros before and after.
    Given(usize, usize),
}

/// The largest attribute: far beyond what makes sense, and small enough that sizes of 64 bits
/// hold every product on the way.
const MAX: i64 = 1 << 30;

impl Geometry {
    /// # Errors
    /// An attribute is not known, out of range, or has a wrong number of items.
    pub(super) fn of(attrs: &Attrs) -> Result<Self, InferError> {
        let [stride_rows, stride_cols] = pair(attrs, "stride")?;
        let [dilation_rows, dilation_cols] = pair(attrs, "dilation")?;
        let [rows, cols] = padding(attrs)?;
        let groups = match attrs.int("groups") {
            Some(groups @ 1..=MAX) => groups as usize,
            _ => return Err(wrong("groups", "is a whole number of at least 1")),
        };
        Ok(Self {
            rows: Axis {
                stride: stride_rows,
                dilation: dilation_rows,
                padding: rows,
            },
            cols: Axis {
                stride: stride_cols,
                dilation: dilation_cols,
                padding: cols,
            },
            groups,
        })
    }
}

impl Axis {
    /// The size of the output along this axis.
    ///
    /// # Errors
    /// The filter is larger than the padded input, or empty.
    pub(super) fn output(&self, input: &Expr, filter: &Expr) -> Result<Expr, InferError> {
        let stride = Expr::from(self.stride as u64);
        if *filter == Expr::ZERO {
            return Err(InferError::new(Fault::Shape, "the filters are empty").on(1));
        }
        let reach = (filter - Expr::ONE) * self.dilation as u64 + 1;
        let Padding::Given(before, after) = self.padding else {
            return Ok(input.ceil_div(&stride));
        };
        let padded = input + Expr::from((before + after) as u64);
        let room = &padded - &reach;
        if room.as_int().is_some_and(|room| room < 0) {
            let message =
                format!("a filter reaches over {reach} elements, the padded input has {padded}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        Ok(room.floor_div(&stride) + 1)
    }

    /// Zeros before the first element of the input.
    pub(super) fn zeros_before(&self, input: usize, filter: usize, output: usize) -> usize {
        match self.padding {
            Padding::Given(before, _) => before,
            Padding::Same => {
                let reach = (filter - 1) * self.dilation + 1;
                let needed = (output.max(1) - 1) * self.stride + reach;
                needed.saturating_sub(input) / 2
            }
        }
    }
}

fn pair(attrs: &Attrs, name: &'static str) -> Result<[usize; 2], InferError> {
    let rule = "is one or two whole numbers of at least 1";
    let sizes = attrs.ints(name).ok_or_else(|| wrong(name, rule))?;
    match sizes[..] {
        [both @ 1..=MAX] => Ok([both as usize; 2]),
        [rows @ 1..=MAX, cols @ 1..=MAX] => Ok([rows as usize, cols as usize]),
        _ => Err(wrong(name, rule)),
    }
}

/// Of rows and columns.
fn padding(attrs: &Attrs) -> Result<[Padding; 2], InferError> {
    let rule = "is 1, 2 or 4 whole numbers of at least 0, 'same' or 'valid'";
    if let Attr::Word(word) = attrs.get("padding") {
        return Ok([match *word {
            "same" => Padding::Same,
            _ => Padding::Given(0, 0),
        }; 2]);
    }
    let sizes = attrs
        .ints("padding")
        .ok_or_else(|| wrong("padding", rule))?;
    if sizes.iter().any(|size| !(0..=MAX).contains(size)) {
        return Err(wrong("padding", rule));
    }
    let sizes: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
    match sizes[..] {
        [all] => Ok([Padding::Given(all, all); 2]),
        [rows, cols] => Ok([Padding::Given(rows, rows), Padding::Given(cols, cols)]),
        [top, left, bottom, right] => {
            Ok([Padding::Given(top, bottom), Padding::Given(left, right)])
        }
        _ => Err(wrong("padding", rule)),
    }
}

fn wrong(attribute: &'static str, rule: &str) -> InferError {
    InferError::new(Fault::Value, format!("`{attribute}` {rule}")).on_attr(attribute)
}
