"use strict";
// What served pages have beyond charts and sorted tables, which are the report's (page.js).
(() => {
  // A choice shows at once; without scripts the button does it.
  for (const form of document.querySelectorAll("form.choices")) {
    for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => form.requestSubmit());
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }
  for (const drop of document.querySelectorAll(".drop")) {
    const input = drop.querySelector("input[type=file]");
    const over = (on) => (event) => { event.preventDefault(); drop.classList.toggle("over", on); };
    drop.addEventListener("dragover", over(true));
    drop.addEventListener("dragleave", over(false));
    drop.addEventListener("drop", (event) => { over(false)(event); input.files = event.dataTransfer.files; });
  }
})();
