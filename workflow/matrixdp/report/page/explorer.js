"use strict";
// All curves in one drawing: an experiment, its axes and the mechanisms to show.
document.querySelectorAll("#explore").forEach((form) => {
  const experiments = JSON.parse(form.querySelector("script").textContent);
  const plot = form.querySelector(".plot");
  const svg = plot.querySelector("svg");
  const tip = plot.querySelector(".tip");
  const list = form.querySelector(".series > div");
  const [MEAN, HALF] = [3, 4];
  const names = ["nominal ε", "true ε", "μ"];
  const dashes = { "--": "7 4", ":": "2 3", "-.": "7 3 2 3" };
  // As in the figures, what lies beyond stands at the edge.
  const [LEAST, MOST] = [1e-3, 1e4];
  const NOTHING = 1e-12;
  let points = [];
  let at = -1;

  const short = (number) => {
    const small = number !== 0 && Math.abs(number) < 1e-3;
    return small ? number.toExponential(2).replace(/\.?0*e/, "e") : String(Number(number.toPrecision(3)));
  };
  const make = (kind, attributes, parent = svg) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.entries(attributes).forEach(([name, value]) => one.setAttribute(name, value));
    parent.append(one);
    return one;
  };
  const current = () => experiments.find((one) => one.id === form.elements.experiment.value);
  const isLog = () => form.elements.y.value === "log";

  const ticks = (low, high, log) => {
    if (log) {
      const from = Math.floor(Math.log10(low));
      const decades = Array.from({ length: Math.ceil(Math.log10(high)) - from + 1 }, (_, i) => from + i);
      const every = Math.ceil(decades.length / 9);
      const steps = decades.length > 3 ? [1] : [1, 2, 5];
      return decades.filter((_, i) => i % every === 0).flatMap((one) => steps.map((step) => step * 10 ** one))
        .filter((one) => one >= low * 0.999 && one <= high * 1.001);
    }
    const size = 10 ** Math.floor(Math.log10((high - low) / 5));
    const step = [1, 2, 5, 10].map((one) => one * size).find((one) => (high - low) / one <= 7);
    const first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
  };

  const draw = () => {
    const about = current();
    const [x, log] = [Number(form.elements.x.value), isLog()];
    const { width, height } = svg.getBoundingClientRect();
    const wide = width > 600;
    const [left, right, top, bottom] = [wide ? 56 : 44, wide ? 110 : 14, wide ? 24 : 38, 40];
    const boxes = [...list.querySelectorAll("input")];
    svg.replaceChildren();
    tip.replaceChildren();
    points = [];
    at = -1;
    const shown = about.series.map((one, i) => ({ ...one, i, points: one.points.filter((point) =>
      point[x] !== null && (!log || point[MEAN] > NOTHING)) }));
    shown.forEach((one) => boxes[one.i].closest("label").classList.toggle("absent", !one.points.length));
    const drawn = shown.filter((one) => boxes[one.i].checked && one.points.length);
    const place = (point) => Math.min(MOST, Math.max(LEAST, point[x]));
    const xs = drawn.flatMap((one) => one.points.map(place));
    const means = drawn.flatMap((one) => one.points.map((point) => point[MEAN]));
    if (!xs.length || !width) return;
    // A level far away would flatten the curves; it is said, not drawn.
    const f = log ? Math.log : Number;
    const [least, most] = [f(Math.min(...means)), f(Math.max(...means))];
    const near = (one) => (one.mean > NOTHING || !log)
      && Math.max(least - f(one.mean), f(one.mean) - most) <= (most - least || 1) / 2;
    const levels = about.levels.filter(near).sort((a, b) => b.mean - a.mean);
    const beyond = about.levels.filter((one) => !near(one));
    const ys = [...means, ...levels.map((one) => one.mean)];
    const scale = (values, from, to, logarithmic) => {
      const f = logarithmic ? Math.log : Number;
      const [a, b] = [f(Math.min(...values)), f(Math.max(...values))];
      const pad = (b - a || 1) * 0.04;
      const map = (value) => from + (to - from) * (f(value) - a + pad) / (b - a + 2 * pad);
      const back = logarithmic ? Math.exp : Number;
      return { map, ends: [back(a - pad), back(b + pad)] };
    };
    const across = scale(xs, left, width - right, true);
    const up = scale(ys, height - bottom, top, log);
    ticks(...across.ends, true).forEach((one) => {
      make("path", { class: "grid", d: `M${across.map(one)} ${top}V${height - bottom}` });
      const end = x && one <= LEAST ? "≤ " : x && one >= MOST ? "≥ " : "";
      make("text", { x: across.map(one), y: height - bottom + 16, "text-anchor": "middle" }).textContent = end + short(one);
    });
    ticks(...up.ends, log).forEach((one) => {
      make("path", { class: "grid", d: `M${left} ${up.map(one)}H${width - right}` });
      make("text", { x: left - 6, y: up.map(one) + 4, "text-anchor": "end" }).textContent = short(one);
    });
    make("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }).textContent = names[x];
    make("text", { x: 4, y: 13 }).textContent = about.axis;
    beyond.forEach((one, i) => {
      make("text", { x: width, y: (wide ? 13 : 28) + 14 * i, "text-anchor": "end" }).textContent = `off the axis: ${one.label} ${short(one.mean)}`;
    });
    drawn.forEach((one) => {
      const group = make("g", { style: `--own: ${one.colour}`, "data-series": one.i });
      const spots = one.points.map((point) => ({ point, one, group, x: across.map(place(point)), y: up.map(point[MEAN]) }));
      spots.sort((a, b) => a.x - b.x);
      make("path", { class: "curve", "stroke-dasharray": dashes[one.line] ?? "none",
        d: spots.map((spot, i) => `${i ? "L" : "M"}${spot.x.toFixed(1)} ${spot.y.toFixed(1)}`).join("") }, group);
      spots.forEach((spot) => {
        make("circle", { class: "point", cx: spot.x, cy: spot.y, r: 3 }, group);
        const ends = [-1, 1].map((way) => spot.point[MEAN] + way * (spot.point[HALF] ?? 0));
        spot.whisker = ends.map((end) => up.map(log ? Math.max(end, up.ends[0]) : end));
      });
      points.push(...spots);
    });
    let below = 0;
    levels.forEach((one) => {
      const y = up.map(one.mean);
      make("path", { class: "level", d: `M${left} ${y}H${width - right}` });
      below = Math.max(y + (wide ? 4 : -4), below + 13);
      make("text", { x: wide ? width - right + 6 : width - right, y: below, "text-anchor": wide ? "start" : "end" })
        .textContent = one.label;
    });
  };

  const show = (index) => {
    at = index;
    svg.querySelectorAll(".at, .whisker").forEach((one) => one.remove());
    svg.querySelectorAll("g").forEach((one) => one.classList.toggle("away", at >= 0 && one !== points[at].group));
    tip.replaceChildren();
    if (at < 0) return;
    const { point, one, group, x, y, whisker } = points[at];
    make("path", { class: "whisker", d: `M${x} ${whisker[0]}V${whisker[1]}` }, group);
    make("circle", { class: "at", cx: x, cy: y, r: 6 });
    const name = document.createElement("b");
    name.textContent = one.label;
    const half = point[HALF] === null ? "" : ` ± ${short(point[HALF])}`;
    const where = names.map((text, i) => (point[i] === null ? "" : `${text} ${short(point[i])}`)).filter(Boolean);
    tip.append(name, `${short(point[MEAN])}${half}; ${where.join(", ")}`);
    const room = plot.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, x + 12))}px`;
    tip.style.top = `${y > plot.clientHeight / 2 ? y - tip.offsetHeight - 12 : y + 12}px`;
  };
  const nearest = (x, y, among) => {
    const far = among.map((spot) => Math.hypot(spot.x - x, spot.y - y));
    const least = Math.min(...far);
    return { index: points.indexOf(among[far.indexOf(least)]), least };
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const { index, least } = nearest(event.clientX - box.left, event.clientY - box.top, points);
    if (least < 30 && index !== at) show(index);
    if (least >= 30 && at >= 0) show(-1);
  });
  svg.addEventListener("pointerleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Escape") show(-1);
    if (!step || !points.length) return;
    event.preventDefault();
    if (at < 0) { show(0); return; }
    const { one, x, y } = points[at];
    if (step[0]) {
      if (points[at + step[0]]?.one === one) show(at + step[0]);
      return;
    }
    const series = [...new Set(points.map((spot) => spot.one))];
    const next = series[(series.indexOf(one) + step[1] + series.length) % series.length];
    show(nearest(x, y, points.filter((spot) => spot.one === next)).index);
  });

  const choose = () => {
    const about = current();
    list.replaceChildren(...about.series.map((one) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      Object.assign(box, { type: "checkbox", checked: true });
      const key = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      make("path", { d: "M0 6H29", style: `--own: ${one.colour}`, "stroke-dasharray": dashes[one.line] ?? "none" }, key);
      label.append(box, key, one.label);
      return label;
    }));
    const alarm = form.querySelector(".alarm");
    alarm.hidden = !(alarm.textContent = about.warning);
    const means = about.series.flatMap((one) => one.points.map((point) => point[MEAN])).filter((one) => one > NOTHING);
    form.elements.y.value = Math.max(...means) > 10 * Math.min(...means) ? "log" : "linear";
    draw();
  };
  form.addEventListener("input", (event) => (event.target.name === "experiment" ? choose() : draw()));
  form.querySelectorAll(".series button").forEach((button) => button.addEventListener("click", () => {
    list.querySelectorAll("input").forEach((box) => { box.checked = button.value === "all"; });
    draw();
  }));
  form.addEventListener("submit", (event) => event.preventDefault());
  new ResizeObserver(draw).observe(svg);
  choose();
});
