//! Device types that nobody knows, and which may be meant.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use haul_ir::target::Target;

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

/// The devices of a target, beside which those of the library are known.
pub(crate) struct Known<'a>(BTreeSet<&'a str>);

/// The devices that are known where a pipeline runs on a target.
pub(crate) fn known_devices(target: &Target) -> Known<'_> {
    let here = target.nodes.iter().flat_map(|node| &node.gpus);
    Known(here.map(|gpu| gpu.name.as_str()).collect())
}

/// What to say about a requested device type that is not known. Only devices of the same model are
/// meant: those of the target, or else those of the library.
pub(crate) fn unknown_device(name: &str, known: &Known<'_>) -> Option<UnknownDevice> {
    let library = || LIBRARY.iter().map(String::as_str);
    if known.0.contains(name) || library().any(|device| device == name) {
        return None;
    }
    let is_meant = |device: &&str| is_same_model(device, name);
    let mut meant: Vec<_> = known.0.iter().copied().filter(is_meant).collect();
    if meant.is_empty() {
        meant = library().filter(is_meant).collect();
        meant.sort_unstable();
    }
    if let Some(misspelt) = meant
        .iter()
        .copied()
        .find(|device| is_misspelt(device, name))
    {
        meant = vec![misspelt];
    }
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

/// Whether two names are of one vendor's devices of one model, whatever their memory or form: `H100`,
/// `H100-80GB`, `NVIDIA H100-PCIe`.
pub(crate) fn is_same_model(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (Model::of(one), Model::of(other)) else {
        return false;
    };
    let is_same_series =
        one.series == other.series || one.series.is_empty() || other.series.is_empty();
    one.number == other.number && is_same_series
}

/// Whether one letter of a name is wrong, missing or too many.
fn is_misspelt(device: &str, name: &str) -> bool {
    strsim::levenshtein(&device.to_lowercase(), &name.to_lowercase()) == 1
}

/// What the names of devices say of their model: `A` and 100, `RTX` and 4090.
struct Model {
    /// In capitals; empty where the name begins with the number.
    series: String,
    number: u32,
}

impl Model {
    /// Words that stand before models and tell nothing of them.
    const BRANDS: [&str; 3] = ["NVIDIA", "TESLA", "GEFORCE"];

    /// Of the words up to the first that has a digit; none where no word has one.
    fn of(name: &str) -> Option<Model> {
        let name = name.to_ascii_uppercase();
        let words = name.split([' ', '-', '_']);
        let words: Vec<_> = words.filter(|word| !Self::BRANDS.contains(word)).collect();
        let is_numbered = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
        let end = words.iter().position(is_numbered)?;
        let model = words[..=end].concat();
        let (series, number) = model.split_at(model.find(|c: char| c.is_ascii_digit())?);
        let digits = number.find(|c: char| !c.is_ascii_digit());
        Some(Model {
            number: number[..digits.unwrap_or(number.len())].parse().ok()?,
            series: series.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{LIBRARY, is_same_model, known_devices, unknown_device};
    use crate::target;

    fn meant(target: &str, name: &str) -> Option<Option<String>> {
        let target = target::find(target).unwrap();
        unknown_device(name, &known_devices(&target)).map(|unknown| unknown.meant)
    }

    #[test]
    fn every_device_of_the_library_has_a_model() {
        for name in LIBRARY.iter() {
            assert!(is_same_model(name, name), "{name}");
        }
    }

    #[test]
    fn names_of_the_same_model_are_meant() {
        let some = |name: &str| Some(Some(name.to_owned()));
        assert_eq!(meant("cpu", "A100-80GB"), None);
        assert_eq!(meant("cpu", "A100-8OGB"), some("A100-80GB"));
        assert_eq!(meant("mixed", "L40"), some("L40S"));
        assert_eq!(meant("cpu", "t4"), some("T4"));
        assert_eq!(meant("cpu", "Tesla-T4"), some("T4"));
        for name in ["4090", "RTX-4090", "NVIDIA GeForce RTX 4090"] {
            assert_eq!(meant("cpu", name), some("RTX4090"), "{name}");
        }
        // One of the three is here.
        assert_eq!(meant("cpu", "NVIDIA A100"), Some(None));
        assert_eq!(meant("mixed", "NVIDIA A100"), some("A100-80GB"));
        // H100-PCIe and H100-SXM.
        assert_eq!(meant("cpu", "H100"), Some(None));
        assert_eq!(meant("cpu", "H100-80GB"), Some(None));
        assert_eq!(meant("h100", "H100-80GB"), some("H100-SXM"));
    }

    /// Other vendors' and other models, however alike their names are.
    #[test]
    fn nothing_is_meant_by_names_of_other_models() {
        for name in [
            "MI200",
            "MI100",
            "TPU4",
            "B580",
            "W7900",
            "v5e",
            "Radeon",
            "Radeon 4090",
            "GH200",
            "H20",
            "L2",
            "P4",
            "RTX4080",
            "A30",
            "H",
            "",
            "-",
            "99999999999",
        ] {
            assert_eq!(meant("mixed", name), Some(None), "{name}");
        }
    }
}
