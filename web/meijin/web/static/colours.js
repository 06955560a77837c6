/** The colours of the page as scripts need them: `light-dark()` is resolved by an element alone. */

const probe = document.createElement("i");
probe.hidden = true;
document.documentElement.append(probe);

/** The colour of a property of the style sheet, such as `--text`. */
export function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
