//! Windows that move over the last axes of a tensor: filters of convolutions, pools, patches.

mod placed;

use haul_ir::expr::Expr;
use haul_ir::op::{Attr, Attrs, Fault, InferError, Param, ParamKind};

pub(super) use placed::Windows;

use super::array_op::{attribute, wrong};

/// How windows move along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) stride: usize,
    pub(super) dilation: usize,
    padding: Padding,
}

#[derive(Clone, Copy, Debug)]
enum Padding {
    /// As much as there must be, an odd one after the input.
    Same,
    /// As much as there must be, an odd one before the input.
    SameLower,
    /// Before and after.
    Given(usize, usize),
}

/// The axis that is not there: windows of one element that move by one.
const NO_AXIS: Axis = Axis {
    stride: 1,
    dilation: 1,
    padding: Padding::Given(0, 0),
};

/// The largest attribute: far beyond what makes sense, and small enough that sizes of 64 bits
/// hold every product on the way.
pub(super) const MAX: i64 = 1 << 30;

/// Words for how much padding there is.
pub(super) const PADDING: Param = attribute(
    "padding",
    ParamKind::IntsOrWord(&["same", "same_lower", "valid"]),
    "0",
);

pub(super) const DILATION: Param = attribute("dilation", ParamKind::Ints, "1");

impl Axis {
    /// The axes from the attributes `stride`, `padding` and `dilation`; where there is no stride,
    /// it is the size of the windows.
    ///
    /// # Errors
    /// An attribute is out of range, or has a wrong number of items.
    pub(super) fn all(attrs: &Attrs, sizes: &[usize]) -> Result<Vec<Self>, InferError> {
        let rank = sizes.len();
        let strides = match attrs.get("stride") {
            Attr::None => sizes.to_vec(),
            _ => each(attrs, "stride", rank)?,
        };
        let dilations = each(attrs, "dilation", rank)?;
        let paddings = padding(attrs, rank)?;
        let axes = strides.into_iter().zip(dilations).zip(paddings);
        Ok(axes
            .map(|((stride, dilation), padding)| Axis {
                stride,
                dilation,
                padding,
            })
            .collect())
    }

    /// Windows that fit along this axis.
    ///
    /// # Errors
    /// A window is larger than the padded input, or empty; the second argument is blamed.
    pub(super) fn output(&self, input: &Expr, window: &Expr) -> Result<Expr, InferError> {
        let stride = Expr::from(self.stride as u64);
        let Padding::Given(..) = self.padding else {
            self.room(input, window)?;
            return Ok(input.ceil_div(&stride));
        };
        Ok(self.room(input, window)?.floor_div(&stride) + 1)
    }

    /// The same where a last window may hang over the end, if it begins before it.
    ///
    /// # Errors
    /// A window is larger than the padded input, or empty; the second argument is blamed.
    pub(super) fn output_with_overhang(
        &self,
        input: &Expr,
        window: &Expr,
    ) -> Result<Expr, InferError> {
        let stride = Expr::from(self.stride as u64);
        let Padding::Given(before, _) = self.padding else {
            return self.output(input, window);
        };
        let fit = self.room(input, window)?.ceil_div(&stride) + 1;
        let begin = (input + before as u64).ceil_div(&stride);
        Ok(fit.smaller(&begin))
    }

    /// The places beside the first that a window can take.
    fn room(&self, input: &Expr, window: &Expr) -> Result<Expr, InferError> {
        if *window == Expr::ZERO {
            return Err(InferError::new(Fault::Shape, "the windows are empty").on(1));
        }
        let Padding::Given(before, after) = self.padding else {
            return Ok(Expr::ZERO);
        };
        let reach = (window - Expr::ONE) * self.dilation as u64 + 1;
        let padded = input + Expr::from((before + after) as u64);
        let room = &padded - &reach;
        if room.as_int().is_some_and(|room| room < 0) {
            let message =
                format!("a window reaches over {reach} elements, the padded input has {padded}");
            return Err(InferError::new(Fault::Shape, message).on(1));
        }
        Ok(room)
    }

    /// The size of what windows of a transposed convolution are spread over.
    ///
    /// # Errors
    /// The padding takes more than there is.
    pub(super) fn spread(
        &self,
        count: &Expr,
        window: &Expr,
        more: usize,
    ) -> Result<Expr, InferError> {
        if *window == Expr::ZERO {
            return Err(InferError::new(Fault::Shape, "the windows are empty").on(1));
        }
        let Padding::Given(before, after) = self.padding else {
            return Err(wrong("padding", "is given in numbers here"));
        };
        let reach = (window - Expr::ONE) * self.dilation as u64 + 1;
        let whole = (count - Expr::ONE) * self.stride as u64 + reach + more as u64;
        let size = whole - Expr::from((before + after) as u64);
        if size.as_int().is_some_and(|size| size < 0) || *count == Expr::ZERO {
            let message = format!("the result would have {size} elements along an axis");
            return Err(InferError::new(Fault::Shape, message).on(0));
        }
        Ok(size)
    }

    /// Padding before the first element of the input, and after the last.
    fn padding(&self, input: usize, window: usize, output: usize) -> (usize, usize) {
        let reach = (window.max(1) - 1) * self.dilation + 1;
        let needed = (output.max(1) - 1) * self.stride + reach;
        let needed = needed.saturating_sub(input);
        match self.padding {
            Padding::Given(before, after) => (before, after),
            Padding::Same => (needed / 2, needed - needed / 2),
            Padding::SameLower => (needed - needed / 2, needed / 2),
        }
    }
}

/// One number for each axis, or one for all.
pub(super) fn each(
    attrs: &Attrs,
    name: &'static str,
    rank: usize,
) -> Result<Vec<usize>, InferError> {
    at_least(attrs, name, rank, 1)
}

/// One number of at least `least` for each axis, or one for all.
pub(super) fn at_least(
    attrs: &Attrs,
    name: &'static str,
    rank: usize,
    least: i64,
) -> Result<Vec<usize>, InferError> {
    let rule = || {
        let rule = format!("is a whole number of at least {least}, or one for each of {rank} axes");
        wrong(name, &rule)
    };
    let numbers = attrs.ints(name).ok_or_else(rule)?;
    if numbers.iter().any(|number| !(least..=MAX).contains(number)) {
        return Err(rule());
    }
    match numbers[..] {
        [all] => Ok(vec![all as usize; rank]),
        _ if numbers.len() == rank => Ok(numbers.iter().map(|number| *number as usize).collect()),
        _ => Err(rule()),
    }
}

fn padding(attrs: &Attrs, rank: usize) -> Result<Vec<Padding>, InferError> {
    if let Attr::Word(word) = attrs.get("padding") {
        let padding = match *word {
            "same" => Padding::Same,
            "same_lower" => Padding::SameLower,
            _ => Padding::Given(0, 0),
        };
        return Ok(vec![padding; rank]);
    }
    let rule = || {
        let rule = format!(
            "is a whole number of at least 0, one for each of {rank} axes, one for each \
             beginning and then for each end, or a word"
        );
        wrong("padding", &rule)
    };
    let sizes = attrs.ints("padding").ok_or_else(rule)?;
    if sizes.iter().any(|size| !(0..=MAX).contains(size)) {
        return Err(rule());
    }
    let sizes: Vec<usize> = sizes.iter().map(|size| *size as usize).collect();
    let pairs = sizes.len() == 2 * rank;
    match sizes[..] {
        [all] => Ok(vec![Padding::Given(all, all); rank]),
        _ if sizes.len() == rank => Ok(sizes
            .iter()
            .map(|size| Padding::Given(*size, *size))
            .collect()),
        _ if pairs => {
            let (before, after) = sizes.split_at(rank);
            let pairs = before.iter().zip(after);
            Ok(pairs
                .map(|(before, after)| Padding::Given(*before, *after))
                .collect())
        }
        _ => Err(rule()),
    }
}
