"use strict";
const plan = JSON.parse(document.getElementById("plan").textContent);
const known = new Map(plan.nodes.map((node) => [node.id, node]));
const panel = document.getElementById("panel");
let kept = null;

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function show(id) {
  const node = known.get(id);
  if (!node) return;
  const list = document.createElement("dl");
  for (const [name, fact] of node.facts) list.append(element("dt", name), element("dd", fact));
  panel.replaceChildren(element("h2", node.title), list);
}

function keep(id) {
  kept = kept === id ? null : id;
  for (const node of document.querySelectorAll("[data-node]")) {
    node.classList.toggle("kept", node.dataset.node === kept);
  }
  show(id);
}

function on(event, act) {
  document.addEventListener(event, (happened) => {
    const node = happened.target.closest("[data-node]");
    if (node) act(node.dataset.node, happened);
  });
}

on("click", keep);
on("mouseover", (id) => { if (kept === null) show(id); });
on("focusin", (id) => { if (kept === null) show(id); });
on("keydown", (id, happened) => {
  if (happened.key !== "Enter" && happened.key !== " ") return;
  happened.preventDefault();
  keep(id);
});
