// The contrast of two colours: WCAG 2.2, "relative luminance" and "contrast ratio".

/** Red, green and blue of a computed colour, in 0 to 255. */
function parts(colour) { return colour.match(/[\d.]+/g).slice(0, 3).map(Number); }

export function shown(colour) { return parts(colour).join(","); }

function luminance(colour) {
  const [red, green, blue] = parts(colour).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
