/** Parts of a page that take the places of their older selves. */

/** Puts a part in another's place; what was focused, scrolled or unfolded stays so. */
export function renew(part, newer) {
  const focused = places(part).indexOf(document.activeElement);
  const scrolled = frames(part).map((frame) => frame.scrollLeft);
  const unfolded = new Set(folds(part).filter((fold) => fold.open).map(nameOf));
  part.replaceWith(newer);
  for (const fold of folds(newer)) fold.open ||= unfolded.has(nameOf(fold));
  for (const [index, frame] of frames(newer).entries()) frame.scrollLeft = scrolled[index] ?? 0;
  places(newer)[focused]?.focus({ preventScroll: true });
}

const frames = (part) => [part, ...part.querySelectorAll("[tabindex]")];
const folds = (part) => [...part.querySelectorAll("details")];
const nameOf = (fold) => fold.querySelector("summary").textContent;
const places = (part) => [part, ...part.querySelectorAll("a, summary, [tabindex]")];
