// What forms alone cannot do: upload with progress, a slider on a logarithmic scale, a way back.
"use strict";
const word = document.querySelector('meta[name="csrf"]').content;

document.addEventListener("change", (event) => {
  const field = event.target.closest("[data-upload]");
  if (!field || !field.files.length) return;
  const file = field.files[0], bar = document.getElementById("upload"), said = document.getElementById("upload-error");
  const request = new XMLHttpRequest();
  bar.hidden = false;
  said.textContent = "";
  request.upload.onprogress = (step) => { bar.value = step.lengthComputable ? (100 * step.loaded) / step.total : 0; };
  request.onload = () => {
    const answer = JSON.parse(request.responseText || "{}");
    if (answer.location) window.location.assign(answer.location);
    else { bar.hidden = true; said.textContent = answer.error || "The file could not be sent."; }
  };
  request.onerror = () => { bar.hidden = true; said.textContent = "The studio cannot be reached. Is it still running?"; };
  request.open("PUT", "/upload");
  request.setRequestHeader("X-CSRF", word);
  request.setRequestHeader("X-Name", encodeURIComponent(file.name));
  request.send(file);
});

document.querySelectorAll("[data-log]").forEach((slider) => {
  const number = document.getElementById(slider.dataset.log);
  const show = () => { slider.value = Math.log(Number(number.value) || 1); slider.setAttribute("aria-valuetext", "ε = " + number.value); };
  slider.addEventListener("input", () => {
    number.value = Number(Math.exp(Number(slider.value)).toPrecision(2));
    slider.setAttribute("aria-valuetext", "ε = " + number.value);
  });
  number.addEventListener("input", show);
  show();
});

document.querySelectorAll("[data-back]").forEach((link) => link.addEventListener("click", (event) => {
  event.preventDefault();
  window.history.back();
}));
