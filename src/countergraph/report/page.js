"use strict";

// A click on a header sorts the table by this column: numerically for numbers, with empty cells last.
for (const table of document.querySelectorAll("table.sortable")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      const numeric = header.classList.contains("number");
      const previous = header.getAttribute("aria-sort");
      const descending = previous === null ? numeric : previous === "ascending";
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
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

// Draw a 3-D view when it scrolls into the window and remove it afterwards: browsers limit the number of WebGL contexts.
if (window.Plotly) {
  const brain = JSON.parse(document.getElementById("brain").textContent);
  const scenes = new Map();
  const observer = new IntersectionObserver((entries) => {
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
  for (const element of document.querySelectorAll(".scene3d")) {
    scenes.set(element, JSON.parse(element.querySelector("script").textContent));
    element.replaceChildren();
    observer.observe(element);
  }
}
