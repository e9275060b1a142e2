"use strict";
// Some of the claims; an address that leads to another one shows all again.
document.querySelectorAll("#filter").forEach((form) => {
  const rows = [...document.querySelectorAll(".ledger tr[data-word]")];
  const update = () => {
    const wanted = [...form.querySelectorAll("select")].filter((one) => one.value);
    rows.forEach((row) => { row.hidden = !wanted.every((one) => row.dataset[one.name] === one.value); });
    document.querySelectorAll(".ledger tbody").forEach((body) => {
      body.hidden = !body.querySelector("tr[data-word]:not([hidden])");
    });
    form.querySelector("output").value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => {
    if (rows.find((row) => `#${row.id}` === location.hash)?.hidden) { form.reset(); update(); }
  });
  update();
});
