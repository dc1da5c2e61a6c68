const digits = String.raw`(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)`;
/** A number as programs print it: source of a regular expression. */
export const numberText = String.raw`[-+]?(?:${digits}|(?:nan|NaN|NAN|[Ii]nf(?:inity)?)(?!\w))`;

const rates = 'it|tok|tokens|words|samples|seq|steps|im|img|images|frames|ex';
/** Units that may follow a number, of which only K, M, B and T scale it. */
export const unitText = String.raw`(?: ?%| ?(?:[KMGTP]i?B|B|ms|us|µs|s|sec|secs|seconds?|min|mins|minutes|m|h|hours|dB|W|x|(?:${rates})/s(?:ec)?|s/(?:${rates})|[GT]?FLOPS?|[GT]FLOPs?(?:/s)?)|[KkMGBT])(?![\w/])`;

const scales: Readonly<Record<string, number>> = { K: 1e3, k: 1e3, M: 1e6, G: 1e9, B: 1e9, T: 1e12 };

/** The number in a text, scaled by its unit: `1.2M`. NaN: it is none. */
export function toNumber(text: string, unit = ''): number {
  const number = Number(text.includes(',') ? text.replaceAll(',', '') : text);
  if (Number.isNaN(number))
    return /^[-+]?inf(?:inity)?$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : NaN;
  const scale = unit === '' ? undefined : scales[unit];
  // 0.45 times 1e9 is not a round number in floating point.
  return scale === undefined ? number : Number((number * scale).toPrecision(15));
}
