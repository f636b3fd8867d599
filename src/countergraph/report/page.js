"use strict";

// Tables sort by the column that is clicked: numbers as numbers, empty cells last.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const descending = before === null ? numeric : before === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const key = (row) => row.cells[column].textContent;
      const compare = (a, b) => {
        if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");
        const order = numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b));
        return descending ? -order : order;
      };
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort(compare));
    });
  });
}

// A brain is drawn when it comes into view and given up when it leaves: browsers keep few 3-D pictures at a time.
if (window.Plotly) {
  const brain = JSON.parse(document.getElementById("brain").textContent);
  const scenes = new Map();
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) {
        const scene = scenes.get(target);
        const traces = scene.brain ? [...brain, ...scene.data] : scene.data;
        Plotly.newPlot(target, traces, scene.layout, { responsive: true, displaylogo: false });
      } else {
        Plotly.purge(target);
      }
    }
  }, { rootMargin: "200px" });
  for (const place of document.querySelectorAll(".space")) {
    scenes.set(place, JSON.parse(place.querySelector("script").textContent));
    place.replaceChildren();
    watcher.observe(place);
  }
}
