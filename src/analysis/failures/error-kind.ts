/**
 * Patterns of text that differs between occurrences of an error, and its replacement. Later masks see the result of earlier ones.
 */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"<>)\]]+/gi, '<url>'],
  [/(?<![\w.])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w.@+=~-]+){2,}[\\/]?/g, '<path>'],
  [/(?<![\w.])(?:~|\.{1,2})[\\/][\w.@+=~-]+/g, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '<id>'],
  // An id has a digit among its letters (`deadbeef1`, not `effaced`), and is not part of a number such as `1.2345678e-30`.
  [/(?<![\w.])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}(?!\w|\.\d|[+-]\d)/gi, '<id>'],
  // A number is not part of a name, as in `float16` or `conv2d`; a unit may follow (`20.5GiB`).
  [/(?<![A-Za-z_\d.])[+-]?\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?(?![\d_])/gi, '#'],
  // Shapes of any length: `[32, 128]`, `32x128x3`.
  [/#(?:\s*(?:,|x|×)\s*#)+/g, '#, …'],
  [/\s+/g, ' '],
];
/** Length limit of a kind, in characters; errors differ near their beginning. */
const LONGEST = 200;

/**
 * The kind of an error: its text with numbers, paths, addresses and ids masked, so that the same failure of two runs is one
 * kind. `CUDA out of memory. Tried to allocate 2.50 GiB` → `CUDA out of memory. Tried to allocate # GiB`.
 */
export function errorKind(text: string): string {
  const masked = masks.reduce((rest, [pattern, stand]) => rest.replace(pattern, stand), text.slice(0, 10 * LONGEST));
  return masked.trim().slice(0, LONGEST);
}
