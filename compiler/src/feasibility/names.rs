//! Device types that nobody knows, and which may be meant.

use std::sync::LazyLock;

use haul_ir::graph::Request;
use haul_ir::target::Target;

use crate::diagnostics::suggest::nearest;
use crate::target;

/// The devices of the library.
static LIBRARY: LazyLock<Vec<String>> =
    LazyLock::new(|| target::gpus().into_iter().map(|gpu| gpu.name).collect());

/// What to say about a requested device type that neither the library nor the target has.
pub(super) fn unknown_device(request: &Request, target: &Target) -> Option<String> {
    let name = request.gpu_type.as_deref()?;
    let here = target.nodes.iter().flat_map(|node| &node.gpus);
    let mut known: Vec<&str> = here.map(|gpu| gpu.name.as_str()).collect();
    known.extend(LIBRARY.iter().map(String::as_str));
    if known.contains(&name) {
        return None;
    }
    known.retain(|other| vendor(other) == vendor(name));
    known.sort_unstable();
    known.dedup();
    let is_of_model = |other: &&str| {
        let model = other.split('-').next();
        model.is_some_and(|model| model.eq_ignore_ascii_case(name))
    };
    let mut meant: Vec<_> = known.iter().copied().filter(is_of_model).collect();
    meant.extend(nearest(name, known).filter(|_| meant.is_empty()));
    let lack = format!("no device is called `{name}`");
    Some(match &meant[..] {
        [] => format!("{lack}: `haul targets` lists those that come with haul"),
        [one] => format!("{lack}: did you mean `{one}`?"),
        several => format!("{lack}: there are `{}`", several.join("`, `")),
    })
}

/// Who makes a device, by what its name begins with. Names of one vendor are never suggested for
/// those of another: AMD's begin with `MI`, Intel's with `Gaudi` or `Max`, Google's with `TPU`.
fn vendor(name: &str) -> &'static str {
    let begins = |start: &str| {
        let name = name.get(..start.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(start))
    };
    let vendors = [
        ("MI", "AMD"),
        ("Gaudi", "Intel"),
        ("Max", "Intel"),
        ("TPU", "Google"),
    ];
    let vendor = vendors.into_iter().find(|(start, _)| begins(start));
    vendor.map_or("NVIDIA", |(_, vendor)| vendor)
}
