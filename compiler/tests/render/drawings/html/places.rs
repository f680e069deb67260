//! Where things are drawn: no box lies on another, no line runs through a box.

use haul_compiler::render;

use crate::render::drawings::{all, chain};

type Area = [f64; 4];

#[test]
fn boxes_are_apart_and_lines_between_them() {
    let mut plans = all();
    plans.push(chain(20, 3));
    for plan in plans {
        let page = render::html(&plan, None);
        let graph = &page[page.find("<svg class=\"graph\"").expect("a graph")..];
        let graph = &graph[..graph.find("</svg>").expect("an end")];
        let boxes = boxes(graph);
        assert!(boxes.len() >= plan.groups.len());
        for (at, a) in boxes.iter().enumerate() {
            let overlaps = |b: &&Area| {
                a[0] < b[0] + b[2] && b[0] < a[0] + a[2] && a[1] < b[1] + b[3] && b[1] < a[1] + a[3]
            };
            assert_eq!(boxes[at + 1..].iter().find(overlaps), None, "{a:?}");
        }
        let lines = graph.split("<path class=\"edge").skip(1);
        for line in lines {
            let path = line
                .split(" d=\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            for [x, y] in points(path.expect("a path")) {
                // Half a pixel for what is rounded.
                let within = |area: &&Area| {
                    let [left, top, width, height] = **area;
                    let inner = |at: f64, start: f64, length: f64| {
                        at > start + 0.5 && at < start + length - 0.5
                    };
                    inner(x, left, width) && inner(y, top, height)
                };
                assert_eq!(boxes.iter().find(within), None, "{path:?} at {x}, {y}");
            }
        }
    }
}

/// The boxes of nodes; not those of stages, which lines enter.
fn boxes(graph: &str) -> Vec<Area> {
    let nodes = graph.split("<g class=\"node ").skip(1);
    let nodes = nodes.filter(|node| !node.starts_with("heading"));
    let area = |node: &str| {
        [" x", " y", " width", " height"].map(|name| {
            let rest = node.split(&format!("{name}=\"")).nth(1).expect(name);
            let number = rest.split('"').next().unwrap_or_default();
            number.parse().expect("a number")
        })
    };
    nodes.map(area).collect()
}

/// Points along a path of moves, vertical lines and cubic curves.
fn points(path: &str) -> Vec<[f64; 2]> {
    let mut points = Vec::new();
    let mut at = [0.0, 0.0];
    let mut rest = path;
    while let Some(command) = rest.chars().next() {
        let end = rest[1..]
            .find(['M', 'V', 'C'])
            .map_or(rest.len(), |end| end + 1);
        let numbers = rest[1..end].split_whitespace();
        let numbers: Vec<f64> = numbers.map(|n| n.parse().expect("a number")).collect();
        let control = match command {
            'M' => [[numbers[0], numbers[1]]; 4],
            'V' => [at, at, [at[0], numbers[0]], [at[0], numbers[0]]],
            _ => [
                at,
                [numbers[0], numbers[1]],
                [numbers[2], numbers[3]],
                [numbers[4], numbers[5]],
            ],
        };
        points.extend((0..=32).map(|step| bezier(control, f64::from(step) / 32.0)));
        at = control[3];
        rest = &rest[end..];
    }
    points
}

fn bezier(points: [[f64; 2]; 4], t: f64) -> [f64; 2] {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    [0, 1].map(|axis| {
        weights
            .iter()
            .zip(points)
            .map(|(weight, point)| weight * point[axis])
            .sum()
    })
}
