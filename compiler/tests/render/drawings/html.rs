//! The page, read by `html5gum`: nothing of a plan becomes an element, nothing is fetched, and
//! the policy lets the page's own script and style run, no other.

mod places;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use haul_compiler::render;
use haul_ir::id::{Id, NodeId, StageId};
use haul_ir::plan::{Batch, Plan};
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use sha2::{Digest, Sha256};

use super::{all, chain, names, spectra};

/// Every element that the page is made of.
const ELEMENTS: &str = "html head meta title style body header h1 p dl dt dd div main section h2 \
                        span aside svg marker g rect text path table thead tbody tr th td script";

/// Every attribute that the page uses: none loads or runs anything.
const ATTRIBUTES: &str = "lang charset http-equiv content name class id aria-labelledby aria-live \
                          aria-label role tabindex data-node width height viewbox refx refy \
                          markerwidth markerheight markerunits orient d x y rx text-anchor \
                          marker-end scope type";

#[test]
fn names_are_text_and_nothing_is_fetched() {
    let (elements, attributes) = (words(ELEMENTS), words(ATTRIBUTES));
    for plan in all() {
        let page = Page::of(&plan);
        for (name, has) in &page.elements {
            assert!(elements.contains(name.as_str()), "<{name}>");
            for (attribute, value) in has {
                assert!(
                    attributes.contains(attribute.as_str()),
                    "{attribute}={value}"
                );
                let refers = value.contains("url(") || value.contains("http:");
                assert!(!refers || value.starts_with("url(#"), "{attribute}={value}");
            }
        }
        let scripts = page.elements.iter().filter(|(name, _)| name == "script");
        assert_eq!(scripts.count(), 2);
        let style = page.inside("style");
        assert!(!style.contains("url(") && !style.contains('@') || style.contains("@media"));
    }
}

#[test]
fn every_stage_and_op_can_be_asked_for() {
    for plan in all() {
        let page = Page::of(&plan);
        let drawn: Vec<_> = page
            .elements
            .iter()
            .filter(|(name, _)| name == "g")
            .filter_map(|(_, has)| has.get("data-node"))
            .collect();
        let known = page.nodes();
        for group in plan.groups.ids() {
            let id = format!("group_{}", group.index());
            assert_eq!(
                drawn.iter().filter(|drawn| ***drawn == id).count(),
                1,
                "{id}"
            );
            assert!(known.contains_key(&id), "{id}");
        }
        let unknown = drawn.iter().find(|id| !known.contains_key(**id));
        assert_eq!(unknown, None);
        let ops = known.values().flatten().filter(|(name, _)| name == "op");
        let ops: Vec<_> = ops.map(|(_, fact)| fact.as_str()).collect();
        let [stages, all] = names(&plan);
        for op in all {
            let start = format!("{op} = ");
            assert!(ops.iter().any(|fact| fact.starts_with(&start)), "{op}");
        }
        for stage in stages {
            assert!(page.text.contains(&stage), "{stage}");
        }
    }
}

#[test]
fn nodes_can_be_reached_and_are_named() {
    let page = Page::of(&spectra());
    let nodes = page.elements.iter().filter(|(name, _)| name == "g");
    for (_, has) in nodes {
        assert_eq!(has["tabindex"], "0");
        assert_eq!(has["role"], "button");
        assert!(!has["aria-label"].is_empty());
    }
}

/// What the panel says of `mel`: 2 · 1024 · 16384 · 128 flops, as the plan made by hand has them.
#[test]
fn the_numbers_of_a_node() {
    let known = Page::of(&spectra()).nodes();
    let facts: BTreeMap<_, _> = known["group_1"].iter().cloned().collect();
    assert_eq!(facts["op"], "mel = matmul(window, bank)");
    assert_eq!(facts["type"], "f32[B, 128]");
    // 4,194,304 · 1024 = 4,294,967,296.
    assert_eq!(facts["flops"], "4.29 G = 4194304*B");
    // 66,048 · 1024 + 8,388,608 = 76,021,760 B = 72.5 MiB.
    assert_eq!(facts["bytes"], "72.5 MiB = 66048*B + 8388608");
    assert_eq!(
        facts["on cpu"],
        "45.3 ms: start 0 ns, arithmetic 0 ns, memory 45.3 ms"
    );
    assert_eq!(facts["placed"], "gpu");
    assert_eq!(facts["regret"], "on the cpu the task takes 41.9 ms longer");
}

/// The hashes in `page.html` are those of `page.css` and `page.js`.
#[test]
fn the_policy_names_style_and_script() {
    let page = Page::of(&spectra());
    let policy = page.elements.iter().find_map(|(_, has)| {
        (has.get("http-equiv").map(String::as_str) == Some("Content-Security-Policy"))
            .then(|| has["content"].clone())
    });
    let hash = |name| {
        let hash = Sha256::digest(page.inside(name));
        base64::engine::general_purpose::STANDARD.encode(hash)
    };
    let (style, script) = (hash("style"), hash("script"));
    let wanted = format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; \
         base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, Some(wanted), "compiler/src/render/html/page.html");
}

#[test]
fn large_plans_are_drawn_by_stage_or_not_at_all() {
    let stages = Page::of(&chain(3, 250));
    let ids: Vec<_> = stages.nodes().into_keys().collect();
    assert_eq!(
        ids,
        ["input_0", "output_0", "stage_0", "stage_1", "stage_2"]
    );
    let table = Page::of(&chain(700, 1));
    assert!(table.nodes().is_empty());
    let rows = table.elements.iter().filter(|(name, _)| name == "tr");
    assert_eq!(rows.count(), 1 + 700);
}

/// Two tasks that overlap on the CPUs take two lanes; the GPU has a row of its own. The run of
/// 100 ns is 740 pixels wide and begins at 170.
#[test]
fn batches_of_the_timeline() {
    let batch = |stage, gpus: &[usize], start, end| Batch {
        stage: StageId::from_index(stage),
        tasks: 2,
        node: NodeId::from_index(0),
        machine: 0,
        gpus: gpus.to_vec(),
        start,
        end,
    };
    let plan = Plan {
        timeline: vec![
            batch(0, &[0], 0, 50),
            batch(1, &[], 20, 60),
            batch(1, &[], 50, 100),
            batch(1, &[], 60, 80),
        ],
        ..spectra()
    };
    let page = render::html(&plan, None);
    let chart = &page[page.find("class=\"timeline\"").expect("a timeline")..];
    let chart = &chart[..chart.find("</svg>").expect("an end")];
    let bars = chart.split("<rect ").skip(1).map(|bar| {
        let bar = bar.split("/>").next().unwrap_or_default();
        let number = |name| {
            let start = bar.split(&format!("{name}=\"")).nth(1).expect(name);
            let text = start.split('"').next().unwrap_or_default();
            text.parse::<u64>().expect("a number")
        };
        [" x", " y", " width"].map(number)
    });
    // The row of the CPUs is first: 20..60 and 60..80 in one lane, 50..100 below.
    let found: Vec<_> = bars.collect();
    assert_eq!(found[0], [170 + 148, 26, 296]);
    assert_eq!(found[1], [170 + 370, 48, 370]);
    assert_eq!(found[2], [170 + 444, 26, 148]);
    assert_eq!(found[3], [170, 70, 370]);
    assert_eq!(found.len(), 4);
}

#[test]
fn an_empty_timeline_says_so() {
    let page = render::html(&spectra(), None);
    assert!(page.contains("no time to show"));
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

/// What a browser sees.
struct Page {
    /// Names and attributes, in order.
    elements: Vec<(String, BTreeMap<String, String>)>,
    /// The text of each element that is only text, by its name; of the last where there are more.
    inner: BTreeMap<String, String>,
    /// All of the text.
    text: String,
}

/// Facts of each node by its id.
type Nodes = BTreeMap<String, Vec<(String, String)>>;

impl Page {
    fn of(plan: &Plan) -> Self {
        let html = render::html(plan, None);
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut page = Page {
            elements: Vec::new(),
            inner: BTreeMap::new(),
            text: String::new(),
        };
        let mut open = String::new();
        for token in Tokenizer::new_with_emitter(&html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let has = tag.attributes.iter();
                    let has = has.map(|(name, value)| (text(name), text(&value.value)));
                    let has: BTreeMap<_, _> = has.collect();
                    open = text(&tag.name);
                    if has.contains_key("type") {
                        open = "data".to_owned();
                    }
                    page.elements.push((text(&tag.name), has));
                }
                Token::String(string) => {
                    let string = text(&string.value);
                    page.text += &string;
                    page.inner.insert(open.clone(), string);
                }
                Token::EndTag(_) => open.clear(),
                Token::Error(error) => panic!("{:?}", error.value),
                Token::Comment(_) => panic!("a comment"),
                Token::Doctype(_) => {}
            }
        }
        page
    }

    fn inside(&self, element: &str) -> &str {
        &self.inner[element]
    }

    fn nodes(&self) -> Nodes {
        let data: serde_json::Value = serde_json::from_str(self.inside("data")).expect("JSON");
        let string = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let node = |node: &serde_json::Value| {
            let facts = node["facts"].as_array().expect("a list").iter();
            let facts = facts.map(|fact| (string(&fact[0]), string(&fact[1])));
            (string(&node["id"]), facts.collect())
        };
        let nodes = data["nodes"].as_array().expect("a list").iter();
        nodes.map(node).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}
