/**
 * How long ago an instant was, behind each `<time>` in an element with `data-ages`.
 *
 * Pages tell instants alone, so that they stay the same while nothing happens.
 */

const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];
const REFRESH_MS = 20_000;
const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });

function age(instant) {
  const seconds = Math.min(0, (instant - Date.now()) / 1000);
  const [unit, length] = UNITS.find(([, size]) => -seconds >= size) ?? UNITS.at(-1);
  return words.format(Math.ceil(seconds / length), unit);
}

function showAges() {
  for (const time of document.querySelectorAll("[data-ages] time[datetime]")) {
    let shown = time.nextElementSibling;
    if (!shown?.matches(".age")) {
      shown = document.createElement("span");
      shown.className = "age aside";
      time.after(" ", shown);
    }
    shown.textContent = `(${age(Date.parse(time.dateTime))})`;
  }
}

showAges();
setInterval(showAges, REFRESH_MS);
