"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const root = document.getElementById("task");
  const place = `assay-task-${plan.task}`;
  const doneWith = `assay-topic-${plan.topic}`;
  const form = plan.form;
  const rules = plan.rules;
  // Where a server gave the task, it counts the attempts, checks them and gives the code; else the page does.
  const server = plan.server;

  // What the worker did so far; it survives a reload, so that a reload gives no new attempt.
  const fresh = {
    step: "consent",
    worker: server ? server.worker : new URLSearchParams(location.search).get("worker") || "",
    answer: null,
    at: 0,
    attempt: server ? server.attempt : 1,
    warnings: [],
    docs: plan.docs.map(() => ({ label: form.start, moved: false, seconds: 0, back: 0 })),
    code: "",
    sent: "",
    refused: "",
  };
  let state = { ...fresh, ...kept(place) };
  // The server knows best which attempt comes next; an answer on its way keeps its own.
  if (server && state.step !== "sending") state.attempt = server.attempt;
  if (state.step === "refused") Object.assign(state, { step: "docs", at: 0, refused: "" });
  let since = null;

  function kept(name) {
    try {
      return JSON.parse(localStorage.getItem(name)) || {};
    } catch {
      return {};
    }
  }

  function keep(name, value) {
    try {
      localStorage.setItem(name, JSON.stringify(value));
    } catch {
      // A browser that keeps nothing loses the state at a reload, and nothing else.
    }
  }

  // Seconds run only while a document is on the screen.
  function stopClock() {
    if (since !== null) state.docs[state.at].seconds += (performance.now() - since) / 1000;
    since = null;
  }

  function startClock() {
    since = state.step === "docs" && document.visibilityState === "visible" ? performance.now() : null;
  }

  document.addEventListener("visibilitychange", () => {
    stopClock();
    keep(place, state);
    startClock();
  });

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value === true) made.setAttribute(key, "");
      else if (value !== false && value !== null) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const button = (text, action, main = false) =>
    element("button", { type: main ? "submit" : "button", class: main ? "main" : "", onclick: main ? null : action }, text);

  function go(step, changes = {}) {
    stopClock();
    Object.assign(state, changes, { step });
    keep(place, state);
    show();
  }

  function show() {
    const screens = { consent, topic, docs, sending, refused, done, failed };
    root.replaceChildren(...screens[state.step]());
    const heading = root.querySelector("h1");
    heading.setAttribute("tabindex", "-1");
    heading.focus();
    window.scrollTo(0, 0);
    startClock();
  }

  const paragraphs = (text) => text.split(/\n\s*\n/).map((part) => element("p", {}, part));

  function consent() {
    const other = kept(doneWith).task;
    if (!server && other && other !== plan.task) {
      return [
        element("h1", {}, "You have done a task on this topic"),
        element("p", {}, "Each person does one task of a topic. Please return this one and take another."),
      ];
    }
    const worker = element("input", { type: "text", id: "worker", required: true, value: state.worker, readonly: Boolean(server), autocomplete: "off", maxlength: 200 });
    const agreed = element("input", { type: "checkbox", id: "agreed", required: true });
    const submitted = (event) => {
      event.preventDefault();
      go("topic", { worker: worker.value.trim() });
    };
    const earlier = server && server.codes.length
      ? [element("p", { id: "earlier" }, `Codes of your earlier tasks: ${server.codes.join(", ")}.`)] : [];
    return [
      element("h1", {}, plan.title),
      ...earlier,
      ...paragraphs(plan.consent),
      element("form", { onsubmit: submitted },
        element("label", { for: "worker" }, "Your worker id on the platform"), worker,
        element("p", {}, agreed, " ", element("label", { for: "agreed" }, "I have read this and agree to take part.")),
        element("div", { class: "buttons" }, button("Begin", null, true))),
    ];
  }

  function described() {
    const parts = Object.entries(plan.description).map(([name, text]) => element("p", {}, element("b", {}, `${name}: `), text));
    return element("section", { class: "topic", "aria-label": "Topic" }, ...parts);
  }

  function choices(name, options, chosen, changed) {
    return options.map((option, i) => {
      const input = element("input", { type: "radio", name, value: String(i), required: true, id: `${name}${i}`, onchange: () => changed(i) });
      input.checked = chosen === i;
      return element("label", { class: "choice", for: `${name}${i}` }, input, " ", `${i + 1}. ${option}`);
    });
  }

  function topic() {
    const question = plan.question;
    const asked = question && element("fieldset", {}, element("legend", {}, question.text),
      ...choices("question", question.options, state.answer, (i) => { state.answer = i; keep(place, state); }));
    const submitted = (event) => {
      event.preventDefault();
      go("docs");
    };
    return [
      element("h1", {}, "What is looked for"),
      ...warned(),
      described(),
      ...paragraphs(plan.guidelines),
      element("form", { onsubmit: submitted }, asked, element("div", { class: "buttons" }, button("Next", null, true))),
    ];
  }

  function warned() {
    if (!state.warnings.length) return [];
    return [element("div", { class: "warning", role: "alert" },
      element("p", {}, `Attempt ${state.attempt} of ${rules.attempts}. Please look again:`),
      element("ul", {}, ...state.warnings.map((text) => element("li", {}, text))))];
  }

  function shownDoc(doc, heading) {
    const title = [heading, doc.title].filter(Boolean).join(": ");
    return element("article", { tabindex: "0", "aria-label": heading || "Document" },
      title ? element("h2", {}, title) : null, doc.text);
  }

  function control(own) {
    if (form.kind === "slider") {
      const value = element("output", { class: "value", for: "label" }, String(own.label));
      const input = element("input", { type: "range", id: "label", min: form.low, max: form.high, step: 1, value: own.label,
        "aria-label": plan.ask, oninput: () => {
        own.label = Number(input.value);
        own.moved = true;
        value.textContent = input.value;
      } });
      return [element("legend", {}, plan.ask), input,
        element("div", { class: "ends" }, element("span", {}, form.names[0]), value, element("span", {}, form.names[1]))];
    }
    if (form.kind === "magnitude") {
      const input = element("input", { type: "number", id: "label", required: true, min: "0.000001", max: "1000000", step: "any",
        value: own.label, inputmode: "decimal", "aria-label": plan.ask, oninput: () => { own.label = Number(input.value); } });
      const hint = state.at === 0 ? "Choose any number above 0 for the first document; later ones are relative to it."
        : `You gave ${state.docs[state.at - 1].label} to the document before.`;
      return [element("legend", {}, plan.ask), input, element("small", {}, hint)];
    }
    const chosen = form.values.indexOf(own.label);
    return [element("legend", {}, plan.ask),
      ...choices("label", form.names, chosen, (i) => { own.label = form.values[i]; })];
  }

  function docs() {
    const doc = plan.docs[state.at];
    const own = state.docs[state.at];
    const count = plan.docs.length;
    const isLast = state.at === count - 1;
    const submitted = (event) => {
      event.preventDefault();
      if (isLast) finish();
      else go("docs", { at: state.at + 1, warnings: [] });
    };
    const back = () => {
      own.back += 1;
      go("docs", { at: state.at - 1, warnings: [] });
    };
    const body = doc.other
      ? element("div", { class: "pair" }, shownDoc(doc, "Document 1"), shownDoc(doc.other, "Document 2"))
      : shownDoc(doc, "");
    return [
      element("h1", {}, `${doc.other ? "Pair" : "Document"} ${state.at + 1} of ${count}`),
      element("progress", { max: count, value: state.at + 1, "aria-label": "Progress" }),
      ...warned(),
      described(),
      body,
      element("form", { onsubmit: submitted },
        element("fieldset", {}, ...control(own)),
        element("div", { class: "buttons" },
          state.at > 0 ? button("Back", back) : null,
          button(isLast ? "Submit" : "Next", null, true))),
    ];
  }

  // The checks that need nothing secret; gold documents and the test question are checked where the answers arrive.
  function problems() {
    const found = [];
    if (rules.seconds !== null) {
      const long = state.docs.filter((own) => own.seconds >= rules.seconds).length;
      const needed = Math.min(rules.on_docs ?? state.docs.length, state.docs.length);
      if (long < needed) found.push(`Take at least ${rules.seconds} seconds for ${needed} of the ${state.docs.length}; so far ${long}.`);
    }
    if (form.kind === "slider" && rules.moved) {
      const moved = state.docs.filter((own) => own.moved).length;
      const needed = Math.min(rules.moved, state.docs.length);
      if (moved < needed) found.push(`Move the slider for at least ${needed} of the ${state.docs.length}; so far ${moved}.`);
    }
    return found;
  }

  function finish() {
    stopClock();
    if (server) {
      go("sending", { sent: newId() });
      return;
    }
    const warnings = problems();
    if (!warnings.length) {
      state.code = code();
      keep(doneWith, { task: plan.task });
      go("done");
      if (plan.post) post();
    } else if (state.attempt < rules.attempts) {
      go("docs", { at: 0, attempt: state.attempt + 1, warnings });
    } else {
      go("failed", { warnings });
    }
  }

  const shownAnswer = () => (state.answer === null ? "" : plan.question.options[state.answer]);

  // FNV-1a of what was answered: whoever reads the answers sees that code and answers belong together.
  function code() {
    const labels = plan.docs.map((doc, i) => `${doc.doc}=${state.docs[i].label}`);
    const text = [plan.task, state.worker, state.attempt, shownAnswer(), ...labels].join("\n");
    let hash = 0xcbf29ce484222325n;
    for (const byte of new TextEncoder().encode(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return hash.toString(16).padStart(16, "0").slice(0, 12).toUpperCase();
  }

  function answers() {
    const rows = plan.docs.map((doc, i) => ({
      topic: plan.topic,
      doc: doc.doc,
      ...(doc.other ? { other: doc.other.doc } : {}),
      worker: state.worker,
      label: state.docs[i].label,
      task: plan.task,
      position: i + 1,
      seconds: Math.round(state.docs[i].seconds * 10) / 10,
      attempt: state.attempt,
      back: state.docs[i].back,
      answer: shownAnswer(),
      code: code(),
    }));
    return rows;
  }

  const written = () => JSON.stringify(answers(), null, 1);

  // An answer keeps its id until the server says that it has it, so that it counts once however often it is sent.
  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function said(text) {
    document.getElementById("said").textContent = text;
  }

  async function post() {
    try {
      const answered = await fetch(plan.post, { method: "POST", headers: { "Content-Type": "application/json" }, body: written() });
      said(answered.ok ? "Your answers were sent." : `Sending failed (${answered.status}). Please copy or download them.`);
    } catch {
      said("Sending failed. Please copy or download your answers.");
    }
  }

  function sending() {
    send();
    return [
      element("h1", {}, "Sending your answers"),
      element("p", { id: "said", role: "status" }, "Please wait."),
    ];
  }

  const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

  // Sent again until the server has it on its disk; a reload goes on with the same id.
  async function send() {
    const body = JSON.stringify({ id: state.sent, rows: answers() });
    for (let wait = 1; ; wait = Math.min(2 * wait, 30)) {
      try {
        const answered = await fetch(server.address, {
          method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body,
        });
        if (answered.ok) return settle(await answered.json());
        if (answered.status < 500) return go("refused", { refused: (await answered.json()).error });
      } catch {
        // No network, or an answer that was cut off: once more.
      }
      said(`The server does not answer. Your answers are kept here and sent again in ${wait} s; leave this page open.`);
      await pause(wait);
    }
  }

  function settle(reply) {
    if (reply.state === "accepted") go("done", { code: reply.code, warnings: [] });
    else if (reply.state === "again") go(plan.question ? "topic" : "docs", { at: 0, attempt: reply.attempt, warnings: reply.warnings });
    else go("failed", { warnings: reply.warnings });
  }

  function refused() {
    return [
      element("h1", {}, "Your answers were not taken"),
      element("p", { role: "alert" }, state.refused),
      element("div", { class: "buttons" }, button("Load the task again", () => location.reload())),
      element("p", { id: "said", role: "status" }, ""),
      ...copies(),
    ];
  }

  // The answers as text, to copy or to download.
  function copies() {
    const text = element("textarea", { readonly: true, id: "answers", "aria-label": "Your answers" });
    text.value = written();
    const copy = async () => {
      text.select();
      try {
        await navigator.clipboard.writeText(text.value);
        said("Copied.");
      } catch {
        said("The answers are selected: press Ctrl+C to copy them.");
      }
    };
    const download = () => {
      const address = URL.createObjectURL(new Blob([text.value], { type: "application/json" }));
      element("a", { href: address, download: `${plan.file}.json` }).click();
      URL.revokeObjectURL(address);
    };
    return [
      element("div", { class: "buttons" }, button("Copy the answers", copy), button("Download the answers", download)),
      text,
    ];
  }

  function done() {
    const next = server
      ? [element("div", { class: "buttons" }, button("Is there another task for me?", () => location.reload()))]
      : copies();
    return [
      element("h1", {}, "Thank you"),
      element("p", {}, "Your code for the platform:"),
      element("p", { class: "code", id: "code" }, state.code),
      element("p", { id: "said", role: "status" }, server ? "Your answers are stored." : ""),
      ...next,
    ];
  }

  function failed() {
    return [
      element("h1", {}, "This task cannot be accepted"),
      element("p", {}, `All ${rules.attempts} attempts are used. Please return the task on the platform.`),
      element("ul", {}, ...state.warnings.map((text) => element("li", {}, text))),
    ];
  }

  // Digits choose among options, where no text is being written.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(text|number|textarea)$/.test(event.target.type || "")) return;
    const option = /^[1-9]$/.test(event.key) && root.querySelectorAll("input[type=radio]")[Number(event.key) - 1];
    if (option) {
      option.click();
      option.focus();
    }
  });

  show();
})();
