"use strict";
// One row of the table of advice at a time.
document.querySelectorAll("#choose").forEach((form) => {
  const rows = JSON.parse(form.querySelector("script").textContent);
  const { experiment, released, guarantee, epsilon, value } = form.elements;
  const distinct = (values) => [...new Set(values)];
  const options = { own: [], epsilons: [] };

  const fill = (row) => {
    form.querySelectorAll("[data-fill]").forEach((at) => { at.textContent = row[at.dataset.fill] ?? ""; });
    form.querySelector(".given").hidden = !row.best;
    form.dataset.outcome = row.outcome ?? "";
    if (!row.best) return;
    const lost = form.querySelector(".lost");
    lost.hidden = row.lost === null;
    lost.style.setProperty("--at", `${100 * Math.min(1, Math.max(0, row.lost ?? 0))}%`);
    const copy = form.querySelector(".copy");
    copy.dataset.copy = row.command;
    copy.setAttribute("aria-label", `Copy the command: ${row.command}`);
    form.querySelector(".command code").textContent = row.command;
  };
  const share = ({ lost }) => {
    if (lost === null) return "";
    return lost > 1 ? "more than all" : lost <= 0 ? "nothing" : `${Number((100 * lost).toPrecision(2))} %`;
  };
  const update = () => {
    const at = options.epsilons[epsilon.value];
    value.value = at;
    epsilon.setAttribute("aria-valuetext", `epsilon ${at}`);
    // A row on more to release is there where that gives more to choose from.
    const allowed = [...released.options].slice(0, released.selectedIndex + 1).map((one) => one.value);
    const row = options.own.filter((one) => one.epsilon === at && one.guarantee === guarantee.value
      && allowed.includes(one.released)).at(-1);
    const none = "Fewer than two mechanisms that were run give this guarantee here.";
    fill(row ? { ...row, share: share(row) } : { nothing: none });
  };
  const choose = () => {
    const before = Number(options.epsilons[epsilon.value] ?? 1);
    options.own = rows.filter((row) => row.experiment === experiment.value);
    options.epsilons = distinct(options.own.map((row) => row.epsilon)).sort((a, b) => a - b);
    epsilon.max = options.epsilons.length - 1;
    const far = options.epsilons.map((one) => Math.abs(Math.log(one / before)));
    epsilon.value = far.indexOf(Math.min(...far));
    released.replaceChildren(...distinct(options.own.map((row) => row.released)).map((one) => new Option(one)));
    released.selectedIndex = released.options.length - 1;
    const [pure, approximate] = guarantee;
    pure.disabled = !options.own.some((row) => row.guarantee === "pure");
    if (pure.disabled) approximate.checked = true;
    update();
  };
  form.addEventListener("input", (event) => (event.target === experiment ? choose() : update()));
  form.addEventListener("submit", (event) => event.preventDefault());
  choose();
});
