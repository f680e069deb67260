//! Device types that nobody knows, and which may be meant.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use haul_ir::target::Target;

use crate::diagnostics::suggest::nearest;
use crate::target;

/// The devices of the library.
static LIBRARY: LazyLock<Vec<String>> =
    LazyLock::new(|| target::gpus().into_iter().map(|gpu| gpu.name).collect());

/// A device type that neither the library nor a target has.
pub(crate) struct UnknownDevice {
    /// What is wrong, and what may be meant.
    pub(crate) words: String,
    /// The device that is meant, where it can only be one.
    pub(crate) meant: Option<String>,
}

/// The devices of a target and of the library.
pub(crate) fn known_devices(target: &Target) -> BTreeSet<&str> {
    let here = target.nodes.iter().flat_map(|node| &node.gpus);
    let here = here.map(|gpu| gpu.name.as_str());
    here.chain(LIBRARY.iter().map(String::as_str)).collect()
}

/// What to say about a requested device type that is not known.
pub(crate) fn unknown_device(name: &str, known: &BTreeSet<&str>) -> Option<UnknownDevice> {
    if known.contains(name) {
        return None;
    }
    let of_vendor = |other: &&str| vendor(name).is_some() && vendor(other) == vendor(name);
    let known: Vec<_> = known.iter().copied().filter(of_vendor).collect();
    let is_of_model = |other: &&str| {
        let model = other.split('-').next();
        model.is_some_and(|model| model.eq_ignore_ascii_case(name))
    };
    let mut meant: Vec<_> = known.iter().copied().filter(is_of_model).collect();
    meant.extend(nearest(name, known).filter(|_| meant.is_empty()));
    let lack = format!("no device is called `{name}`");
    let words = match &meant[..] {
        [] => format!("{lack}: `haul targets` lists those that come with haul"),
        [one] => format!("{lack}: did you mean `{one}`?"),
        several => format!("{lack}: there are `{}`", several.join("`, `")),
    };
    let meant = match meant[..] {
        [one] => Some(one.to_owned()),
        _ => None,
    };
    Some(UnknownDevice { words, meant })
}

/// What the names of each vendor's devices begin with.
const VENDORS: [(&str, &[&str]); 4] = [
    ("AMD", &["MI"]),
    ("Google", &["TPU"]),
    ("Intel", &["Gaudi", "Max"]),
    (
        "NVIDIA",
        &[
            "A10", "A16", "A2", "A30", "A40", "A50", "A60", "B10", "B20", "B30", "GB", "GH", "GTX",
            "H1", "H2", "H8", "K80", "L2", "L4", "P10", "P4", "Quadro", "RTX", "T4", "Tesla",
            "Titan", "V100",
        ],
    ),
];

/// Who makes a device, by what its name begins with. Names of one vendor are never suggested for
/// those of another, and none for those of a vendor that is not known.
fn vendor(name: &str) -> Option<&'static str> {
    let begins = |start: &&str| {
        let name = name.get(..start.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(start))
    };
    let mut vendors = VENDORS.iter();
    let vendor = vendors.find(|(_, starts)| starts.iter().any(begins));
    vendor.map(|(vendor, _)| *vendor)
}

#[cfg(test)]
mod tests {
    use super::{LIBRARY, known_devices, unknown_device, vendor};
    use crate::target;

    #[test]
    fn every_device_of_the_library_has_a_vendor() {
        for name in LIBRARY.iter() {
            assert!(vendor(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_the_same_vendor_are_meant() {
        let target = target::find("mixed").unwrap();
        let known = known_devices(&target);
        let meant = |name| unknown_device(name, &known).map(|unknown| unknown.meant);
        let some = |name: &str| Some(Some(name.to_owned()));
        assert_eq!(meant("A100-80GB"), None);
        assert_eq!(meant("A100-8OGB"), some("A100-80GB"));
        assert_eq!(meant("l40"), some("L4"));
        assert_eq!(meant("t4"), some("T4"));
        // H100-PCIe and H100-SXM.
        assert_eq!(meant("H100"), Some(None));
        // Of AMD, Google and Intel nothing is known; nor who makes the last ones.
        for name in ["MI200", "TPU4", "B580", "W7900", "v5e", "Radeon", "H", ""] {
            assert_eq!(meant(name), Some(None), "{name}");
        }
    }
}
