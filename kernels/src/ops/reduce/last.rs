//! Positions counted from the other end.

use haul_ir::op::{KernelCall, KernelError};
use haul_ir::tensor::{Layout, View};

use super::kernels::parts;

/// The first position that a kernel finds, or with `last` the last: the first of the axes turned
/// around.
pub(super) fn place(
    call: &mut KernelCall<'_, '_>,
    kernel: fn(&mut KernelCall<'_, '_>) -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    if !call.attrs.flag("last") {
        return kernel(call);
    }
    let (input, axes, _) = parts(call)?;
    let count: usize = axes.iter().map(|axis| input.shape()[*axis]).product();
    let turned = View {
        layout: turned(&input.layout, &axes),
        ..input.clone()
    };
    kernel(&mut KernelCall {
        inputs: &[turned],
        attrs: call.attrs,
        outputs: call.outputs,
    })?;
    for place in call.outputs[0].elements::<i64>() {
        *place = count as i64 - 1 - *place;
    }
    Ok(())
}

/// The axes backwards.
fn turned(layout: &Layout, axes: &[usize]) -> Layout {
    let mut layout = layout.clone();
    for &axis in axes {
        let last = layout.shape[axis].saturating_sub(1) as isize;
        layout.offset = layout
            .offset
            .wrapping_add_signed(last * layout.strides[axis]);
        layout.strides[axis] = -layout.strides[axis];
    }
    layout
}
